"""Lower a whole model, or a single operation of it, for inputs of known shapes."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from npu_conformance.adapters.engine_interface import NO_CALLEES, Callees
from npu_conformance.adapters.lowering.calls import check_operations
from npu_conformance.adapters.lowering.context import Call, Step, Values
from npu_conformance.adapters.lowering.graph import Graph, Tensor
from npu_conformance.adapters.lowering.operands import (
    LoweringError,
    check_size,
    graph_dtype,
    is_tensor,
    quantization,
    storage_dtype,
    used_operands,
)
from npu_conformance.adapters.lowering.operations import CONTROL_FLOW, LOWERINGS
from npu_conformance.reference.device.executor import agrees
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.types import Operation, Subgraph
from npu_conformance.specs.versions import Version

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class LoweredModel:
    """A .tflite model and how a request meets it.

    inputs: for each model input its tensor, None where the value is built in, omitted or not used. outputs: tensor of
    each model output. shapes: of each operand that has a tensor, by index, as LiteRT infers them. has_empty_pool: a
    pool has an input without elements. byte_size: of all tensors of the main graph together. rounds: where there is
    control flow, the tensor that takes how many rounds all loops together may make, and the one that holds how many are
    left: none if the loops were cut short.
    """

    flatbuffer: bytes
    inputs: tuple[int | None, ...]
    outputs: tuple[int, ...]
    shapes: Mapping[int, tuple[int, ...]]
    has_empty_pool: bool
    byte_size: int
    rounds: tuple[int, int] | None = None

    def given(self, values: Sequence[Array | None], rounds: int) -> list[tuple[int, Array]]:
        """Return number and value of the tensors that the run needs.

        values: of all model inputs; rounds: that loops may make.
        """
        pairs = zip(self.inputs, values, strict=True)
        found = [(number, value) for number, value in pairs if number is not None and value is not None]
        return found if self.rounds is None else [*found, (self.rounds[0], np.array([rounds], np.int32))]

    def wanted(self) -> list[int]:
        """The tensors to read after a run: the outputs, and behind them the rounds that are left, if any counts."""
        return [*self.outputs, *(self.rounds[1:] if self.rounds else ())]


def lower(
    subgraph: Subgraph,
    known: Mapping[int, Array],
    shapes: Mapping[int, tuple[int, ...]],
    omitted: frozenset[int] = frozenset(),
    callees: Callees = NO_CALLEES,
    *,
    has_unsigned: bool = True,
) -> LoweredModel:
    """Lower a graph. known: values of constants and of inputs to build in; omitted: model inputs without a value.

    shapes: of the other model inputs. callees: the model's referenced graphs. has_unsigned: see Values. Raises
    LoweringError where an operation cannot be lowered, LiteRtError (litert_runtime) where LiteRT refuses the result.
    """
    values = _values(subgraph, known, shapes, omitted, callees, has_unsigned)
    used = used_operands(subgraph)
    inputs = [_input(values, index) if index in used else None for index in subgraph.input_indexes]
    counts = any(operation.type in CONTROL_FLOW for operation in subgraph.operations)
    rounds = _count_rounds(values) if counts else None
    for operation in subgraph.operations:
        lower_operation(values, operation)
    outputs = [_stored(values, index) for index in subgraph.output_indexes]
    ends = None if rounds is None or values.rounds is None else (rounds, values.rounds)
    _settle_shapes(values, [*outputs, *(ends or ())[1:]])
    inferred = {index: values.graph.tensors[number].shape for index, number in values.tensors.items()}
    flatbuffer = values.graph.pack(values.inputs, [*outputs, *(ends or ())[1:]])
    size = sum(math.prod(tensor.shape) * np.dtype(tensor.dtype).itemsize for tensor in values.graph.tensors)
    is_empty = _has_empty_pool(values.graph)
    return LoweredModel(flatbuffer, tuple(inputs), tuple(outputs), inferred, is_empty, size, ends)


def _values(
    graph: Subgraph,
    known: Mapping[int, Array],
    shapes: Mapping[int, tuple[int, ...]],
    omitted: frozenset[int],
    callees: Callees,
    has_unsigned: bool = True,
) -> Values:
    for index in used_operands(graph):
        check_size(shapes.get(index, graph.operands[index].dimensions))
    no_value = {index for index, operand in enumerate(graph.operands) if operand.lifetime == OperandLifeTime.NO_VALUE}
    call = functools.partial(_call, callees)
    return Values(graph.operands, known, omitted | no_value, shapes, call, has_unsigned)


def _count_rounds(values: Values) -> int:
    """Add the input that says how many rounds loops may make."""
    values.rounds = values.graph.add(Tensor("int32", (1,)))
    values.inputs.append(values.rounds)
    return values.rounds


def _call(callees: Callees, number: int, shapes: Sequence[tuple[int, ...]]) -> Call:
    """Lower a referenced graph. shapes: of its inputs. Its values have the form of the graph they come from."""
    graph, known = callees.graphs[number]
    given = dict(zip(graph.input_indexes, shapes, strict=True))
    known_shapes = {index: value.shape for index, value in known.items()}
    check_operations(graph, callees.version, given | known_shapes, known)
    values = _values(graph, known, given, frozenset(), callees)
    for index in given:
        if not is_tensor(graph.operands[index]):
            raise LoweringError(f"operand {index} of a referenced graph, an input, is no tensor")
        operand = graph.operands[index]
        values.tensors[index] = values.graph.add(Tensor(graph_dtype(operand), given[index], quantization(operand)))
        values.inputs.append(values.tensors[index])
    _count_rounds(values)
    for operation in graph.operations:
        lower_operation(values, operation)
    return _called(values, graph, callees.version)


def _called(values: Values, graph: Subgraph, version: Version) -> Call:
    outputs = [values.tensor(index) for index in graph.output_indexes]
    if values.rounds is None:
        raise LoweringError("a referenced graph that does not count rounds")
    _settle_shapes(values, [*outputs, values.rounds])
    tensors = values.graph.tensors
    shapes = {index: tensors[number].shape for index, number in values.tensors.items()}
    check_operations(graph, version, shapes, values.constants)
    results = tuple(tensors[number].shape for number in outputs)
    return Call(values.graph, tuple(values.inputs), tuple(outputs), values.rounds, results)


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
    """Write LiteRT's own shapes into the graph (XNNPACK needs them) and compare them with the declared dimensions."""
    tensors = values.graph.tensors
    shapes = values.inferred(outputs)
    for tensor, shape in zip(tensors, shapes, strict=True):
        tensor.shape = shape
        if 0 in shape[1:]:
            # Some kernels end the process where another axis is empty; an empty batch is safe.
            raise LoweringError(f"a tensor that has no elements along another axis than the first: {shape}")
    for index, number in values.tensors.items():
        declared = values.operands[index].dimensions
        if not agrees(declared, tensors[number].shape):
            raise LoweringError(f"operand {index} is declared {declared} and comes out {tensors[number].shape}")


def _has_empty_pool(graph: Graph) -> bool:
    pools = (operator for operator in graph.operators if operator.options == "Pool2D")
    routines = (routine for operator in graph.operators for routine in operator.routines.values())
    return any(0 in graph.tensors[pool.inputs[0]].shape for pool in pools) or any(
        _has_empty_pool(routine.graph) for routine in routines
    )
