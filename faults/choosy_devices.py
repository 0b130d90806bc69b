"""Conforming devices that support a part of what there is, chosen as hardware chooses: by type, form, size, chance."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any

from npu_conformance.faults.boundary import FaultyDevice
from npu_conformance.faults.factories import faulty_device
from npu_conformance.faults.fault import Variant
from npu_conformance.specs.manifest import Claim
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import (
    ErrorStatus,
    OperandLifeTime,
    OperandType,
    OperationType,
)
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

_FEW = {OperationType.ADD, OperationType.RELU, OperationType.CONV_2D, OperationType.SOFTMAX}
_QUANTISED = {
    OperandType.TENSOR_QUANT8_ASYMM,
    OperandType.TENSOR_QUANT8_ASYMM_SIGNED,
    OperandType.TENSOR_QUANT8_SYMM,
    OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL,
    OperandType.TENSOR_QUANT16_ASYMM,
    OperandType.TENSOR_QUANT16_SYMM,
}
_UNSIGNED: Mapping[int, int] = {OperandType.TENSOR_QUANT8_ASYMM_SIGNED: OperandType.TENSOR_QUANT8_ASYMM}
"""The unsigned form of a type."""
_PARAMETERS = {OperandType.INT32, OperandType.BOOL, OperandType.TENSOR_INT32}
"""The types of operands that configure an operation."""


class ChoosyDevice(FaultyDevice):
    """Supports only some operations, and reports so: a model with another one ends in GENERAL_FAILURE."""

    def supports(self, main: types.Subgraph, operation: types.Operation) -> bool:
        """True for operations of the main graph that are supported."""
        raise NotImplementedError

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        answers = self.inner.get_supported_operations(model)
        return tuple(
            answer and self.supports(model.main, operation)
            for answer, operation in zip(answers, model.main.operations, strict=True)
        )

    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        model = getattr(prepared_model, "model", None)
        if model is None or all(self.supports(model.main, operation) for operation in model.main.operations):
            super().prepared(callback, status, prepared_model)
        else:
            callback.notify(ErrorStatus.GENERAL_FAILURE, None)


Choice = Callable[[types.Subgraph, types.Operation], bool]
"""True for operations of a graph that a device supports."""


def choosy(choice: Choice) -> type[ChoosyDevice]:
    """A device that supports what is chosen."""
    return type("Choosy", (ChoosyDevice,), {"supports": staticmethod(choice)})


def _tiny(main: types.Subgraph, operation: types.Operation) -> bool:
    return operation.type in _FEW and _kinds(main, operation.outputs) == {OperandType.TENSOR_FLOAT32}


_OF_TINY = Claim(operations=tuple(operation.name for operation in _FEW), types=("TENSOR_FLOAT32",))


def _nothing(main: types.Subgraph, operation: types.Operation) -> bool:
    return False


def quantised(main: types.Subgraph, operation: types.Operation) -> bool:
    """Quantised tensors alone."""
    parameters = _kinds(main, operation.inputs) - _QUANTISED
    return _kinds(main, operation.outputs) <= _QUANTISED and parameters <= _PARAMETERS


def float16(main: types.Subgraph, operation: types.Operation) -> bool:
    """Tensors of float16 alone."""
    parameters = _kinds(main, operation.inputs) - {OperandType.TENSOR_FLOAT16, OperandType.FLOAT16}
    return _kinds(main, operation.outputs) == {OperandType.TENSOR_FLOAT16} and parameters <= _PARAMETERS


def _not_float32(main: types.Subgraph, operation: types.Operation) -> bool:
    return OperandType.TENSOR_FLOAT32 not in _kinds(main, (*operation.inputs, *operation.outputs))


def images(main: types.Subgraph, operation: types.Operation) -> bool:
    """The first tensor has four dimensions, as the buffers of an image pipeline have."""
    tensors = _tensors(main, operation.inputs)
    return bool(tensors) and len(tensors[0].dimensions) == 4


def _known_sizes(main: types.Subgraph, operation: types.Operation) -> bool:
    tensors = _tensors(main, (*operation.inputs, *operation.outputs))
    return all(one.dimensions and 0 not in one.dimensions for one in tensors)


def _constant_parameters(main: types.Subgraph, operation: types.Operation) -> bool:
    """Weights, biases, axes and sizes are packed when a model is prepared."""
    lifetimes = {main.operands[index].lifetime for index in operation.inputs[1:]}
    return OperandLifeTime.SUBGRAPH_INPUT not in lifetimes


def _no_constants(main: types.Subgraph, operation: types.Operation) -> bool:
    constants = {OperandLifeTime.CONSTANT_COPY, OperandLifeTime.CONSTANT_POOL}
    return not any(one.lifetime in constants for one in _tensors(main, operation.inputs))


def _single_operations(main: types.Subgraph, operation: types.Operation) -> bool:
    return len(main.operations) == 1


def _rows(main: types.Subgraph, operation: types.Operation) -> bool:
    return all(len(one.dimensions) <= 2 for one in _tensors(main, (*operation.inputs, *operation.outputs)))


def _same_shapes(main: types.Subgraph, operation: types.Operation) -> bool:
    """Tensors of more than one element have one shape: nothing is broadcast."""
    shapes = {one.dimensions for one in _tensors(main, operation.inputs) if set(one.dimensions) != {1}}
    return len(shapes) <= 1


def two_thirds(seed: int, *, of_types: bool = False) -> Choice:
    """Two of three operations, by chance; of_types: of pairs of operation and output types instead.

    The two forms of quantised bytes are one type: both are supported or neither (NNHAL-SUPPORT-008).
    """

    def supports(main: types.Subgraph, operation: types.Operation) -> bool:
        outputs = _kinds(main, operation.outputs) if of_types else set()
        kinds = sorted(int(_UNSIGNED.get(kind, kind)) for kind in outputs)  # by the wire they are numbers
        return zlib.crc32(f"{seed} {int(operation.type)} {kinds}".encode()) % 3 != 0

    return supports


def _kinds(main: types.Subgraph, indexes: tuple[int, ...]) -> set[int]:
    return {main.operands[index].type for index in indexes}


def _tensors(main: types.Subgraph, indexes: tuple[int, ...]) -> list[types.Operand]:
    operands = (main.operands[index] for index in indexes)
    return [operand for operand in operands if operand.type in OPERAND_TYPES and OPERAND_TYPES[operand.type].is_tensor]


def _variant(name: str, description: str, choice: Choice, *claims: Claim) -> Variant:
    return Variant(name, description, faulty_device(choosy(choice), claims=claims))


VARIANTS = (
    _variant("tiny", "Supports four operations on float32.", _tiny),
    _variant("tiny-with-claims", "The same, which its manifest claims.", _tiny, _OF_TINY),
    _variant("supports-nothing", "Judges models and requests, and supports no operation.", _nothing),
    _variant("quantised-only", "Supports quantised tensors alone.", quantised),
    _variant("float16-only", "Supports float16 alone.", float16),
    _variant("no-float32", "Supports all but float32.", _not_float32),
    _variant("images-only", "Supports operations on tensors of four dimensions.", images),
    _variant("rows-only", "Supports operations on tensors of at most two dimensions.", _rows),
    _variant("known-sizes-only", "Supports no operation with a rank or size that is left open.", _known_sizes),
    _variant("constant-parameters-only", "Takes inputs of the model as the first operand alone.", _constant_parameters),
    _variant("no-constant-tensors", "Supports no operation with a constant tensor.", _no_constants),
    _variant("single-operations-only", "Supports models of one operation.", _single_operations),
    _variant("no-broadcasts", "Supports operations on tensors of one shape.", _same_shapes),
    _variant("two-thirds-of-operations", "Supports two of three operations.", two_thirds(1)),
    _variant("two-thirds-of-other-operations", "Supports two other ones of three.", two_thirds(2)),
    _variant("two-thirds-by-types", "Supports two of three operations with types.", two_thirds(3, of_types=True)),
)
