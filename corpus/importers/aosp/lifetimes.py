"""Variations of where operands live: constants as inputs, inputs and outputs as values inside the model."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.importers.aosp.models import Model
from npu_conformance.corpus.importers.aosp.operands import Input, Internal, Operand, Output, Parameter
from npu_conformance.corpus.importers.aosp.variations import ModelVariation, SkipError

_ADDABLE = ("TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED")


def _addable(operand: Operand) -> bool:
    """True for an operand that ADD can copy by adding zero."""
    return (
        operand.type.type in _ADDABLE
        and len(operand.type.dimensions) <= 4
        and bool(operand.value)
        and operand.mayBeInternal
    )


def _zero_like(operand: Operand) -> Parameter:
    kind = operand.type
    return Parameter("placeholder", (kind.type, [1], kind.scale, kind.zeroPoint), [kind.zeroPoint])


def _require_one_operation(model: Model) -> None:
    if len(model.operations) != 1:
        raise SkipError


def _require(operands: Sequence[Operand]) -> None:
    if not operands:
        raise SkipError


class AllTensorsAsInputsConverter(ModelVariation):
    """Constant tensors become inputs, in models of one operation."""

    supportsSubgraphs = True

    def default_name(self) -> str:
        """Its own."""
        return "all_tensors_as_inputs"

    def change_model(self, model: Model) -> None:
        """Convert plain parameters only: vectors written as lists stay constant."""
        _require_one_operation(model)
        constants = [
            operand
            for operand in model.operands
            if type(operand) is Parameter and not operand.type.IsScalar() and operand.value is not None
        ]
        _require(constants)
        model.replace([operand.ConvertTo(Input) for operand in constants])


class AllInputsAsInternalCoverter(ModelVariation):
    """Inputs come out of an addition of zero, in models of one operation."""

    supportsSubgraphs = True

    def default_name(self) -> str:
        """Its own."""
        return "all_inputs_as_internal"

    def change_model(self, model: Model) -> None:
        """Append an addition for each input that can be one's output."""
        _require_one_operation(model)
        inputs = [operand for operand in model.GetInputs() if _addable(operand)]
        _require(inputs)
        for operand in inputs:
            model.Operation("ADD", operand.ConvertTo(Input, f"{operand.name}_new"), _zero_like(operand), 0).To(operand)
        model.replace([operand.ConvertTo(Internal) for operand in inputs])


class AllOutputsAsInternalCoverter(ModelVariation):
    """Outputs go through an addition of zero, in models of one operation."""

    supportsSubgraphs = True

    def default_name(self) -> str:
        """Its own."""
        return "all_outputs_as_internal"

    def change_model(self, model: Model) -> None:
        """Append an addition for each output that can be one's input."""
        _require_one_operation(model)
        outputs = [operand for operand in model.GetOutputs() if _addable(operand)]
        _require(outputs)
        for operand in outputs:
            made = operand.ConvertTo(Output, f"{operand.name}_new")
            model.Operation("ADD", operand, _zero_like(operand), 0).To(made)
        model.replace([operand.ConvertTo(Internal) for operand in outputs])
