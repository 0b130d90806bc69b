"""Which operations of a model LiteRT takes: found out by lowering, allocating and running each one alone."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from npu_conformance.adapters.litert_runtime import LiteRtError
from npu_conformance.adapters.lowering.calls import Callees, callees
from npu_conformance.adapters.lowering.lstm import states_of
from npu_conformance.adapters.lowering.model import NO_CALLEES, is_tensor, lower
from npu_conformance.adapters.lowering.operands import LoweringError, check_size, is_known, storage_dtype
from npu_conformance.adapters.lowering.operations import CONTROL_FLOW, LOWERINGS, parameters
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime
from npu_conformance.specs.neuralnetworks.operation_view import constant_value, view_of
from npu_conformance.specs.neuralnetworks.types import DataLocation, Model, Operand, Operation, Subgraph
from npu_conformance.specs.neuralnetworks.validate import check_operation
from npu_conformance.specs.versions import Version

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

MOST_TRIED_ELEMENTS = 4096
"""Trials with more elements are allocated but not run: LiteRT's reference kernels are slow."""

TRIED_ROUNDS = 8
"""Rounds that the loops of a trial may make."""


@dataclass(frozen=True)
class Attempt:
    """Why an operation can not be executed (null where it can), and the shapes of its outputs if they are known."""

    obstacle: str | None
    shapes: tuple[Shape, ...] = ()


def obstacles(model: Model, version: Version, pools: Sequence[memoryview], kernels: str) -> list[str | None]:
    """For each operation of a valid model, why LiteRT can not execute it; null where it can."""
    shapes: dict[int, Shape] = {}
    found = []
    for index, operation in enumerate(model.main.operations):
        attempt = _attempt(model, index, version, pools, shapes, kernels)
        shapes.update(zip(operation.outputs, attempt.shapes, strict=False))
        found.append(attempt.obstacle)
    return found


def _attempt(
    model: Model,
    index: int,
    version: Version,
    pools: Sequence[memoryview],
    shapes: Mapping[int, Shape],
    kernels: str,
) -> Attempt:
    operation = model.main.operations[index]
    if operation.type not in LOWERINGS:
        # Operations of extensions and vendors are legal, and in no catalogue: they can not be viewed.
        return Attempt(f"operation {operation.type} is not lowered")
    if any(states_of(other).intersection(operation.inputs) for other in model.main.operations):
        # The variable that holds it is no output of the cell's operator: XNNPACK may read it before the cell has run.
        return Attempt("it reads a state that a cell leaves")
    try:
        for operand in (*operation.inputs, *operation.outputs):
            check_size(model.main.operands[operand].dimensions)
    except LoweringError as error:
        return Attempt(str(error))
    violations = check_operation(view_of(model, index, version, pools=pools))
    if violations:
        return Attempt(str(violations[0]))
    if operation.type in CONTROL_FLOW:
        return _judge_graphs(model, operation, version, pools, shapes, kernels)
    return _judge(model, operation, pools, shapes, kernels)


def _judge_graphs(
    model: Model,
    operation: Operation,
    version: Version,
    pools: Sequence[memoryview],
    shapes: Mapping[int, Shape],
    kernels: str,
) -> Attempt:
    """Try IF or WHILE with its graphs. The types of what they compute are tried with them."""
    foreign = {inner.type for graph in model.referenced for inner in graph.operations} - LOWERINGS.keys()
    if foreign:
        return Attempt(f"operation {min(foreign)}, in a referenced graph, is not lowered")
    operands = [_settled(operand, shapes.get(index)) for index, operand in enumerate(model.main.operands)]
    known = {i: value for i in operation.inputs if (value := constant_value(model, operands[i], pools)) is not None}
    given = tuple(dict.fromkeys(index for index in operation.inputs if _is_open(operands[index])))
    if not all(is_known(operands[index].dimensions) for index in given):
        return Attempt(None)
    graph = Subgraph(tuple(operands), (operation,), given, operation.outputs)
    return _run(graph, known, kernels, callees(model, version, pools))


def _judge(
    model: Model, operation: Operation, pools: Sequence[memoryview], shapes: Mapping[int, Shape], kernels: str
) -> Attempt:
    """shapes: of operands that earlier operations compute, where the model leaves them open."""
    graph = model.main
    operands = {index: _settled(graph.operands[index], shapes.get(index)) for index in operation.inputs}
    values = {index: constant_value(model, operands[index], pools) for index in operands}
    open_inputs = [index for index in operands if values[index] is None and _is_open(operands[index])]
    awaited = [index for index in open_inputs if _is_built_in(graph, index, operation)]
    for index in awaited:
        if operands[index].lifetime != OperandLifeTime.SUBGRAPH_INPUT:
            return Attempt(f"operand {index} has to be constant")
    unknown = [index for index in open_inputs if index not in shapes and not is_known(operands[index].dimensions)]
    if unknown or awaited:
        # Without sizes or parameters nothing can be tried. The types are those of the operation's signatures.
        return Attempt(None)
    inputs = tuple((_anonymous(operands[index]), _bytes(values[index])) for index in operation.inputs)
    outputs = tuple(_anonymous(graph.operands[index]) for index in operation.outputs)
    return _try(operation.type, inputs, outputs, kernels)


@functools.lru_cache(maxsize=256)
def _try(
    operation_type: int, inputs: tuple[tuple[Operand, bytes | None], ...], outputs: tuple[Operand, ...], kernels: str
) -> Attempt:
    """Lower, allocate and, if small, run a model of one operation. inputs: with the bytes of constants."""
    operands = [operand for operand, _ in inputs] + list(outputs)
    given = tuple(index for index, (operand, data) in enumerate(inputs) if data is None and _is_open(operand))
    results = tuple(range(len(inputs), len(operands)))
    operation = Operation(operation_type, tuple(range(len(inputs))), results)
    graph = Subgraph(tuple(operands), (operation,), given, results)
    known = {index: _array(operand, data) for index, (operand, data) in enumerate(inputs) if data is not None}
    return _run(graph, known, kernels, NO_CALLEES)


def _run(graph: Subgraph, known: Mapping[int, Array], kernels: str, called: Callees) -> Attempt:
    """Lower and allocate a graph whose input shapes are known and, if it is small, run it with zeros."""
    given = [graph.operands[index] for index in graph.input_indexes]
    try:
        shapes = {i: operand.dimensions for i, operand in zip(graph.input_indexes, given, strict=True)}
        lowered = lower(graph, known, shapes, callees=called)
        interpreter = lowered.interpreter(kernels)
        if sum(math.prod(shape) for shape in lowered.shapes.values()) <= MOST_TRIED_ELEMENTS:
            zeros = [np.zeros(operand.dimensions, storage_dtype(operand)) for operand in given]
            interpreter.run(lowered.given(zeros, TRIED_ROUNDS), lowered.wanted())
    except (LoweringError, LiteRtError) as error:
        return Attempt(str(error))
    return Attempt(None, tuple(lowered.shapes[index] for index in graph.output_indexes))


def _is_built_in(graph: Subgraph, index: int, operation: Operation) -> bool:
    """True for an operand whose value has to be known before LiteRT sees the operation."""
    return not is_tensor(graph, index) or index in parameters(operation, graph.operands)


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
