"""ONNX as an engine: graphs lowered to ONNX, and the reference evaluator of the package `onnx`.

The evaluator is numpy alone, written for the ONNX standard, and takes every element type, so that it is a witness of
more vectors, and a more independent one, than ONNX Runtime.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np

from npu_conformance.adapters.engine_interface import NO_CALLEES, Array, Callees, Engine, Run, Shape
from npu_conformance.adapters.lowering.operands import LoweringError, check_size, storage_dtype, used_operands
from npu_conformance.adapters.lowering.operations import PARAMETER_TENSORS
from npu_conformance.adapters.onnx_lowering.context import Step, Values
from npu_conformance.adapters.onnx_lowering.graph import OnnxError, onnx, shapes_of
from npu_conformance.adapters.onnx_lowering.operations import LOWERINGS
from npu_conformance.reference.device.executor import agrees
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime
from npu_conformance.specs.neuralnetworks.types import Operand, Operation, Subgraph


@dataclass(frozen=True)
class OnnxEngine(Engine):
    """The ONNX reference evaluator; it has one set of kernels."""

    @property
    def name(self) -> str:
        """ONNX."""
        return "onnx"

    def version(self) -> str:
        """Version of the package `onnx`."""
        onnx()
        return metadata.version("onnx")

    def has(self, operation_type: int) -> bool:
        """True for what has a lowering."""
        return operation_type in LOWERINGS

    def parameters(self, operation: Operation, operands: Sequence[Operand]) -> frozenset[int]:
        """The operands that the lowering wants constant: shapes, axes and paddings, as for .tflite."""
        positions = PARAMETER_TENSORS.get(operation.type, ())
        return frozenset(operation.inputs[position] for position in positions if position < len(operation.inputs))

    def lower(
        self,
        graph: Subgraph,
        known: Mapping[int, Array],
        shapes: Mapping[int, Shape],
        omitted: frozenset[int] = frozenset(),
        callees: Callees = NO_CALLEES,
    ) -> OnnxGraph:
        """See Engine."""
        operands = graph.operands
        used = used_operands(graph)
        for index in used:
            check_size(shapes.get(index, operands[index].dimensions))
        no_value = {index for index, operand in enumerate(operands) if operand.lifetime == OperandLifeTime.NO_VALUE}
        values = Values(operands, known, omitted | no_value, shapes)
        inputs = tuple(_input(values, index) if index in used else None for index in graph.input_indexes)
        for operation in graph.operations:
            if not self.has(operation.type):
                raise LoweringError(f"operation {operation.type} is not lowered")
            LOWERINGS[operation.type](Step(values, operation))
        outputs = [values.graph.emit("Identity", [values.name(index)])[0] for index in graph.output_indexes]
        dtypes = [storage_dtype(operands[index]) for index in graph.output_indexes]
        model = values.graph.model(outputs, dtypes)
        return OnnxGraph(model, inputs, _shapes(values, model))


@dataclass(frozen=True)
class OnnxGraph:
    """A graph lowered to an ONNX model.

    inputs: name of each model input, None where it is built in, omitted or not used.
    """

    model: Any
    inputs: tuple[str | None, ...]
    shapes: Mapping[int, Shape]

    def load(self) -> Run:
        """See Lowered."""
        try:
            onnx("checker").check_model(self.model)
            evaluator = onnx("reference").ReferenceEvaluator(self.model)
        except Exception as error:
            # Whatever the evaluator raises, it rejects this model.
            raise OnnxError(f"ONNX refuses the model: {_line(error)}") from error
        return lambda inputs, _: _run(evaluator, self.inputs, inputs)


def _run(evaluator: Any, names: Sequence[str | None], inputs: Sequence[Array | None]) -> list[Array]:
    feeds = {name: value for name, value in zip(names, inputs, strict=True) if name is not None and value is not None}
    try:
        with np.errstate(all="ignore"):
            return [np.array(result) for result in evaluator.run(None, feeds)]
    except Exception as error:
        # The evaluator's kernels are plain Python: they may raise anything.
        raise OnnxError(f"ONNX fails: {_line(error)}") from error


def _input(values: Values, index: int) -> str | None:
    if index in values.constants or index in values.omitted:
        return None
    values.names[index] = values.graph.input(storage_dtype(values.operands[index]), values.given[index])
    return values.names[index]


def _shapes(values: Values, model: Any) -> dict[int, Shape]:
    """Return the shapes of operands as ONNX infers them, compared with the declared dimensions."""
    inferred = shapes_of(model)
    found = {index: inferred[name] for index, name in values.names.items() if name in inferred}
    for index, shape in found.items():
        declared = values.operands[index].dimensions
        if not agrees(declared, shape):
            raise LoweringError(f"operand {index} is declared {declared} and comes out {shape}")
    return found


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
