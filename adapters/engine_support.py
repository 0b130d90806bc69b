"""Which operations of a model an engine takes: found out by lowering, loading and running each one alone."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from npu_conformance.adapters.engine import Engine, EngineError
from npu_conformance.adapters.lowering.operands import LoweringError, check_size, is_known, is_tensor, storage_dtype
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime
from npu_conformance.specs.neuralnetworks.operation_view import constant_value, view_of
from npu_conformance.specs.neuralnetworks.types import DataLocation, Model, Operand, Operation, Subgraph
from npu_conformance.specs.neuralnetworks.validate import check_operation
from npu_conformance.specs.versions import Version

Array = npt.NDArray[Any]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Attempt:
    """Why an operation can not be executed (null where it can), and the shapes of its outputs, empty if unknown."""

    obstacle: str | None
    shapes: tuple[Shape, ...] = ()


def obstacles(model: Model, version: Version, pools: Sequence[memoryview], engine: Engine) -> list[str | None]:
    """For each operation of a valid model, why the engine can not execute it; null where it can."""
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
        # Operations of extensions and vendors are legal, and in no catalogue: they can not be viewed.
        return Attempt(f"operation {operation.type} is not lowered")
    try:
        for operand in (*operation.inputs, *operation.outputs):
            check_size(model.main.operands[operand].dimensions)
    except LoweringError as error:
        return Attempt(str(error))
    violations = check_operation(view_of(model, index, version, pools=pools))
    return Attempt(str(violations[0])) if violations else _judge(model, operation, pools, shapes, engine)


def _judge(
    model: Model, operation: Operation, pools: Sequence[memoryview], shapes: Mapping[int, Shape], engine: Engine
) -> Attempt:
    """shapes: of operands that earlier operations compute, where the model leaves them open."""
    graph = model.main
    operands = {index: _settled(graph.operands[index], shapes.get(index)) for index in operation.inputs}
    values = {index: constant_value(model, operands[index], pools) for index in operands}
    open_inputs = [index for index in operands if values[index] is None and _is_open(operands[index])]
    awaited = [index for index in open_inputs if _is_built_in(graph, index, operation, engine)]
    for index in awaited:
        if operands[index].lifetime != OperandLifeTime.SUBGRAPH_INPUT:
            return Attempt(f"operand {index} has to be constant")
    unknown = [index for index in open_inputs if index not in shapes and not is_known(operands[index].dimensions)]
    if (unknown or awaited) and not engine.takes_open_shapes:
        return Attempt(f"shapes or parameters that come with the request: operands {sorted({*unknown, *awaited})}")
    if unknown or awaited:
        # Without sizes or parameters nothing can be tried. The types are those of the operation's signatures.
        return Attempt(None)
    inputs = tuple((_anonymous(operands[index]), _bytes(values[index])) for index in operation.inputs)
    outputs = tuple(_anonymous(graph.operands[index]) for index in operation.outputs)
    return _try(operation.type, inputs, outputs, engine)


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
    try:
        known = {index: _array(operand, data) for index, (operand, data) in enumerate(inputs) if data is not None}
        lowered = engine.lower(graph, known, {index: operands[index].dimensions for index in given})
        run = lowered.load()
        if sum(math.prod(shape) for shape in lowered.shapes.values()) <= engine.most_tried_elements:
            values = [np.zeros(operands[index].dimensions, storage_dtype(operands[index])) for index in given]
            run(values)
    except EngineError as error:
        return Attempt(str(error))
    return Attempt(None, tuple(lowered.shapes.get(index, ()) for index in results))


def _is_built_in(graph: Subgraph, index: int, operation: Operation, engine: Engine) -> bool:
    """True for an operand whose value has to be known before the engine sees the operation."""
    return not is_tensor(graph.operands[index]) or index in engine.parameters(operation, graph.operands)


def _is_open(operand: Operand) -> bool:
    """True for an operand whose value comes from a request or from another operation."""
    return operand.lifetime in (OperandLifeTime.SUBGRAPH_INPUT, OperandLifeTime.TEMPORARY_VARIABLE)


def _settled(operand: Operand, shape: Shape | None) -> Operand:
    """The operand with the dimensions found out for it, where it leaves some open."""
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
