"""Lower a whole model, or a single operation of it, for inputs of known shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from npu_conformance.adapters.lowering.context import Step, Values
from npu_conformance.adapters.lowering.graph import Graph, Tensor
from npu_conformance.adapters.lowering.operands import (
    LoweringError,
    check_size,
    graph_dtype,
    quantization,
    storage_dtype,
)
from npu_conformance.adapters.lowering.operations import LOWERINGS
from npu_conformance.reference.device.executor import agrees
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.types import Operation, Subgraph

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class LoweredModel:
    """A .tflite model and how a request meets it.

    inputs: for each model input its tensor, null where the value is built in or omitted. outputs: tensor of each
    model output. shapes: of each operand that has a tensor, by index, as LiteRT infers them. has_empty_pool: a pool has
    an input without elements. byte_size: of all tensors together.
    """

    flatbuffer: bytes
    inputs: tuple[int | None, ...]
    outputs: tuple[int, ...]
    shapes: Mapping[int, tuple[int, ...]]
    has_empty_pool: bool
    byte_size: int

    def given(self, values: Sequence[Array | None]) -> list[tuple[int, Array]]:
        """Tensor number and value of each model input that is neither built in nor omitted. values: of all of them."""
        pairs = zip(self.inputs, values, strict=True)
        return [(number, value) for number, value in pairs if number is not None and value is not None]


def lower(
    subgraph: Subgraph,
    known: Mapping[int, Array],
    shapes: Mapping[int, tuple[int, ...]],
    omitted: frozenset[int] = frozenset(),
) -> LoweredModel:
    """Lower a graph. known: values of constants and of inputs to build in; omitted: model inputs without a value.

    shapes: of the other model inputs. Raises LoweringError where an operation can not be lowered, LiteRtError
    (litert_runtime) where LiteRT refuses the result.
    """
    operands = subgraph.operands
    no_value = {index for index, operand in enumerate(operands) if operand.lifetime == OperandLifeTime.NO_VALUE}
    for dimensions in (*(operand.dimensions for operand in operands), *shapes.values()):
        check_size(dimensions)
    values = Values(operands, known, omitted | no_value, shapes)
    inputs = [_input(values, index) for index in subgraph.input_indexes]
    for operation in subgraph.operations:
        lower_operation(values, operation)
    outputs = [_stored(values, index) for index in subgraph.output_indexes]
    _settle_shapes(values, outputs)
    inferred = {index: values.graph.tensors[number].shape for index, number in values.tensors.items()}
    flatbuffer = values.graph.pack(values.inputs, outputs)
    size = sum(math.prod(tensor.shape) * np.dtype(tensor.dtype).itemsize for tensor in values.graph.tensors)
    return LoweredModel(flatbuffer, tuple(inputs), tuple(outputs), inferred, _has_empty_pool(values.graph), size)


def lower_operation(values: Values, operation: Operation) -> None:
    """Emit the equivalent of one operation, its float16 results rounded to float16."""
    if operation.type not in LOWERINGS:
        raise LoweringError(f"operation {operation.type} is not lowered")
    LOWERINGS[operation.type](Step(values, operation))
    for index in operation.outputs:
        if values.operands[index].type == OperandType.TENSOR_FLOAT16:
            values.tensors[index] = _cast(values, _stored(values, index), "float32")


def _input(values: Values, index: int) -> int | None:
    if index in values.constants or index in values.omitted:
        return None
    operand = values.operands[index]
    stored = storage_dtype(operand).name
    number = values.graph.add(Tensor(stored, values.shapes[index], quantization(operand)))
    values.inputs.append(number)
    values.tensors[index] = number if stored == graph_dtype(operand) else _cast(values, number, graph_dtype(operand))
    return number


def _stored(values: Values, index: int) -> int:
    """The tensor holding an operand as NNAPI stores it."""
    number, stored = values.tensors[index], storage_dtype(values.operands[index]).name
    return number if values.graph.tensors[number].dtype == stored else _cast(values, number, stored)


def _cast(values: Values, number: int, dtype: str) -> int:
    changed = values.graph.add(replace(values.graph.tensors[number], dtype=dtype, shape=(), data=None, variable=False))
    values.graph.emit("CAST", [number], changed, "Cast")
    return changed


def _settle_shapes(values: Values, outputs: list[int]) -> None:
    """Write LiteRT's own shapes into the graph (XNNPACK needs them) and hold them against the declared dimensions."""
    tensors = values.graph.tensors
    shapes = values.inferred(outputs)
    for tensor, shape in zip(tensors, shapes, strict=True):
        tensor.shape = shape
        if 0 in shape[1:]:
            # Some kernels end the process where another axis is empty; without a batch they were found sound.
            raise LoweringError(f"a tensor that has no elements along another axis than the first: {shape}")
    for index, number in values.tensors.items():
        declared = values.operands[index].dimensions
        if not agrees(declared, tensors[number].shape):
            raise LoweringError(f"operand {index} is declared {declared} and comes out {tensors[number].shape}")


def _has_empty_pool(graph: Graph) -> bool:
    pools = (operator for operator in graph.operators if operator.options == "Pool2D")
    return any(0 in graph.tensors[pool.inputs[0]].shape for pool in pools)
