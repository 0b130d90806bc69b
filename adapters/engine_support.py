"""Which operations of a model an engine takes: tried by lowering, loading and running each operation alone."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from npu_conformance.adapters.engine_interface import NO_CALLEES, Callees, Engine, EngineError
from npu_conformance.adapters.lowering.calls import callees
from npu_conformance.adapters.lowering.operands import LoweringError, check_size, is_known, is_tensor, storage_dtype
from npu_conformance.adapters.lowering.operations import CONTROL_FLOW
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime
from npu_conformance.specs.neuralnetworks.operation_view import constant_value, view_of
from npu_conformance.specs.neuralnetworks.types import DataLocation, Model, Operand, Operation, Subgraph
from npu_conformance.specs.neuralnetworks.validate import check_operation
from npu_conformance.specs.versions import Version

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

_OPEN = (OperandLifeTime.SUBGRAPH_INPUT, OperandLifeTime.TEMPORARY_VARIABLE, OperandLifeTime.SUBGRAPH_OUTPUT)


class _TriedEnough(Exception):
    """The loops of a trial have made their first rounds."""


@dataclass(frozen=True)
class Attempt:
    """Why an operation cannot be executed (None where it can), and the shapes of its outputs, empty if unknown."""

    obstacle: str | None
    shapes: tuple[Shape, ...] = ()


def obstacles(model: Model, version: Version, pools: Sequence[memoryview], engine: Engine) -> list[str | None]:
    """For each operation of a valid model, why the engine cannot execute it; None where it can."""
    shapes: dict[int, Shape] = {}
    found = []
    for index, operation in enumerate(model.main.operations):
        attempt = _attempt(model, index, version, pools, shapes, engine)
        found_out = zip(operation.outputs, attempt.shapes, strict=False)
        shapes.update((operand, shape) for operand, shape in found_out if shape)
        found.append(attempt.obstacle)
    return found


def _attempt(
    model: Model,
    index: int,
    version: Version,
    pools: Sequence[memoryview],
    shapes: Mapping[int, Shape],
    engine: Engine,
) -> Attempt:
    operation = model.main.operations[index]
    if not engine.has(operation.type):
        # Operations of extensions and vendors are legal, and in no catalogue: they cannot be viewed.
        return Attempt(f"operation {operation.type} is not lowered")
    if any(engine.unreadable(other).intersection(operation.inputs) for other in model.main.operations):
        return Attempt("it reads a result that another operation cannot read")
    try:
        for operand in (*operation.inputs, *operation.outputs):
            check_size(model.main.operands[operand].dimensions)
    except LoweringError as error:
        return Attempt(str(error))
    violations = check_operation(view_of(model, index, version, pools=pools))
    if violations:
        return Attempt(str(violations[0]))
    if operation.type in CONTROL_FLOW:
        return _judge_graphs(model, operation, version, pools, shapes, engine)
    return _judge(model, operation, pools, shapes, engine)


def _judge_graphs(
    model: Model,
    operation: Operation,
    version: Version,
    pools: Sequence[memoryview],
    shapes: Mapping[int, Shape],
    engine: Engine,
) -> Attempt:
    """Try IF or WHILE with its graphs. The types of what they compute are tried with them."""
    foreign = {inner.type for graph in model.referenced for inner in graph.operations if not engine.has(inner.type)}
    if foreign:
        return Attempt(f"operation {min(foreign)}, in a referenced graph, is not lowered")
    operands = [_settled(operand, shapes.get(index)) for index, operand in enumerate(model.main.operands)]
    known = {i: value for i in operation.inputs if (value := constant_value(model, operands[i], pools)) is not None}
    given = tuple(dict.fromkeys(index for index in operation.inputs if _is_open(operands[index])))
    unknown = [index for index in given if not is_known(operands[index].dimensions)]
    if unknown:
        return _untried(unknown, engine)
    graph = Subgraph(tuple(operands), (operation,), given, operation.outputs)
    return _run(graph, known, engine, callees(model, version, pools))


def _judge(
    model: Model, operation: Operation, pools: Sequence[memoryview], shapes: Mapping[int, Shape], engine: Engine
) -> Attempt:
    """Try one operation. shapes: of operands that earlier operations compute, where the model leaves them open."""
    graph = model.main
    operands = {index: _settled(graph.operands[index], shapes.get(index)) for index in operation.inputs}
    values = {index: constant_value(model, operands[index], pools) for index in operands}
    open_inputs = [index for index in operands if values[index] is None and _is_open(operands[index])]
    awaited = [index for index in open_inputs if _is_built_in(graph, index, operation, engine)]
    for index in awaited:
        if operands[index].lifetime != OperandLifeTime.SUBGRAPH_INPUT:
            return Attempt(f"operand {index} has to be constant")
    unknown = [index for index in open_inputs if index not in shapes and not is_known(operands[index].dimensions)]
    if unknown or awaited:
        return _untried({*unknown, *awaited}, engine)
    inputs = tuple((_anonymous(operands[index]), _bytes(values[index])) for index in operation.inputs)
    outputs = tuple(_anonymous(graph.operands[index]) for index in operation.outputs)
    return _try(operation.type, inputs, outputs, engine)


def _untried(missing: Iterable[int], engine: Engine) -> Attempt:
    """Judge by the types alone, which the signatures allow: nothing can be tried without sizes or parameters."""
    if engine.takes_open_shapes:
        return Attempt(None)
    return Attempt(f"shapes or parameters that come with the request: operands {sorted(missing)}")


@functools.lru_cache(maxsize=256)
def _try(
    operation_type: int, inputs: tuple[tuple[Operand, bytes | None], ...], outputs: tuple[Operand, ...], engine: Engine
) -> Attempt:
    """Lower, load and, if small, run a model of one operation. inputs: with the bytes of constants."""
    operands = [operand for operand, _ in inputs] + list(outputs)
    given = tuple(index for index, (operand, data) in enumerate(inputs) if data is None and _is_open(operand))
    results = tuple(range(len(inputs), len(operands)))
    operation = Operation(operation_type, tuple(range(len(inputs))), results)
    graph = Subgraph(tuple(operands), (operation,), given, results)
    known = {index: _array(operand, data) for index, (operand, data) in enumerate(inputs) if data is not None}
    return _run(graph, known, engine, NO_CALLEES)


def _run(graph: Subgraph, known: Mapping[int, Array], engine: Engine, called: Callees) -> Attempt:
    """Lower and load a graph whose input shapes are known and, if it is small, run it with zeros."""
    given = [graph.operands[index] for index in graph.input_indexes]
    try:
        shapes = {i: operand.dimensions for i, operand in zip(graph.input_indexes, given, strict=True)}
        lowered = engine.lower(graph, known, shapes, callees=called)
        run = lowered.load()
        if sum(math.prod(shape) for shape in lowered.shapes.values()) <= engine.most_tried_elements:
            zeros = [np.zeros(operand.dimensions, storage_dtype(operand)) for operand in given]
            with contextlib.suppress(_TriedEnough):
                run(zeros, _enough)
    except EngineError as error:
        return Attempt(str(error))
    return Attempt(None, tuple(lowered.shapes.get(index, ()) for index in graph.output_indexes))


def _enough() -> None:
    raise _TriedEnough


def _is_built_in(graph: Subgraph, index: int, operation: Operation, engine: Engine) -> bool:
    """True for an operand whose value has to be known before the engine sees the operation."""
    return not is_tensor(graph.operands[index]) or index in engine.parameters(operation, graph.operands)


def _is_open(operand: Operand) -> bool:
    """True for an operand whose value comes from a request or from another operation, an output of the model too."""
    return operand.lifetime in _OPEN


def _settled(operand: Operand, shape: Shape | None) -> Operand:
    """The operand with the inferred dimensions, where it leaves some open."""
    if shape is None or is_known(operand.dimensions):
        return operand
    return msgspec.structs.replace(operand, dimensions=shape)


def _anonymous(operand: Operand) -> Operand:
    """The operand without what is not part of its type and shape, so that equal trials are recognised."""
    return msgspec.structs.replace(operand, location=DataLocation(), number_of_consumers=0)


def _bytes(value: Array | None) -> bytes | None:
    return None if value is None else value.tobytes()


def _array(operand: Operand, data: bytes) -> Array:
    return np.frombuffer(data, storage_dtype(operand)).reshape(operand.dimensions)
