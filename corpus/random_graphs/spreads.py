"""How far the results of a graph move while each operation errs as much as it may.

An operation that is right within the public tolerance by itself must be right in a graph, whatever the operations
before it made of theirs. So the oracles compute the graph again and again, and every result is moved by as much as its
operation may be off, inside of IF and WHILE too: all elements up, all down, and up or down at random. What an operation
that computes in floats reads moves by a few units in the last place, as if its sums had been rounded differently.

What an element does meanwhile is how far a device may be off there besides its own tolerance: nothing for a sum, much
for a divisor near 0, and everything for the comparison of two equal values.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

from npu_conformance.corpus import oracles
from npu_conformance.corpus.random_graphs.accuracy import MOVED
from npu_conformance.corpus.random_graphs.dice import Dice
from npu_conformance.corpus.vector_types import Graph
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array, Vector, VectorOperand, VectorOperation

_EXACT_FLOATS = MOVED | {
    "ABS", "NEG", "RELU", "RELU1", "RELU6", "FLOOR", "MAXIMUM", "MINIMUM", "MAX_POOL_2D", "REDUCE_MAX", "REDUCE_MIN",
    "CONCATENATION", "SPLIT", "LSH_PROJECTION",
}  # fmt: skip
"""Operations on floats whose results are elements of their inputs, or integers: no two devices differ."""
_FLOOR = {4: (1e-5, 5 * 2.0**-23), 2: (5 * 2.0**-10, 5 * 2.0**-10)}
"""Absolute and relative tolerance of a float of so many bytes: NNHAL-ACCURACY-001 and -002."""
_LAST_PLACES = {4: 2.0**-21, 2: 2.0**-9}
"""Four units in the last place, relatively: what other orders of summation come to."""
_SYSTEMATIC = 4


@dataclass(frozen=True)
class Step:
    """One operation of a graph, as a graph of its own."""

    operation: VectorOperation
    graph: Graph


class Spreads:
    """The spreads of a vector's outputs, after as many runs as were asked for."""

    def __init__(self, vector: Vector) -> None:
        self._vector = vector
        self._dice = Dice(f"spreads of {vector.name}")
        self.runs = 0

    @functools.cached_property
    def spreads(self) -> dict[str, Array]:
        """How far each element of the outputs has moved so far."""
        return {name: numpy.zeros(array.shape) for name, array in self._expected.items()}

    @functools.cached_property
    def _expected(self) -> dict[str, Array]:
        outputs = self._vector.examples[0].outputs
        return {name: array.astype(numpy.float64) for name, array in outputs.items()}

    @functools.cached_property
    def _steps(self) -> list[Step]:
        return _steps(self._vector)

    @functools.cached_property
    def _inner_steps(self) -> dict[int, list[Step]]:
        """The steps of each graph that IF and WHILE refer to, by its id."""
        return {id(graph): _steps(graph) for graph in self._vector.referenced}

    @functools.cached_property
    def _given(self) -> dict[str, Array]:
        return _known(self._vector, self._vector.examples[0].inputs)

    def run(self, runs: int) -> None:
        """Let operations err in further ways until there were so many. An element whose kind changes has no limit."""
        while self.runs < runs:
            found = self._moved_outputs()
            for name, expected in self._expected.items():
                moved = found.get(name)
                self.spreads[name] = numpy.maximum(self.spreads[name], _distance(moved, expected))
            self.runs += 1

    def _moved_outputs(self) -> Mapping[str, Array]:
        """Outputs of one run, less those behind a moved value without a result, as the logarithm of less than 0."""
        arrays, lost = dict(self._given), set[str]()
        for number, step in enumerate(self._steps):
            try:
                found = self._evaluated(step, arrays) if lost.isdisjoint(step.operation.inputs) else {}
            except (ValueError, ArithmeticError):
                found = {}
            arrays.update(self._moved_results(step, number, found))
            lost.update(set(step.operation.outputs).difference(found))
        return arrays

    def _evaluated(self, step: Step, arrays: Mapping[str, Array]) -> dict[str, Array]:
        """The results of an operation on what came before, itself moved a little."""
        given = {name: arrays[name] for name in step.operation.inputs if name in arrays}
        if step.operation.type not in _EXACT_FLOATS:
            given = {name: self._moved_input(step, name, values) for name, values in given.items()}
        return oracles.evaluate(step.graph, given, self._vector.referenced, self._inside)

    def _inside(self, graph: Graph, given: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs of a branch, a condition or a round, whose results move too. Raises what its operations raise."""
        arrays = _known(graph, given)
        for number, step in enumerate(self._inner_steps[id(graph)]):
            arrays.update(self._moved_results(step, number, self._evaluated(step, arrays)))
        return {name: arrays[name] for name in graph.outputs}

    def _moved_results(self, step: Step, number: int, found: Mapping[str, Array]) -> dict[str, Array]:
        return {
            name: _moved(values, own_error(step, name, values), self._signs(values, number))
            for name, values in found.items()
        }

    def _moved_input(self, step: Step, name: str, values: Array) -> Array:
        """Cells of an LSTM may divide sums by their deviation, however small: there elements that are 0 matter too.

        So do the roundings of integer sums. A step of what the sums are made of stands for them.
        """
        normalises = step.operation.type.endswith("LSTM")
        if normalises and step.graph.operands[name].type is OperandType.TENSOR_QUANT8_ASYMM_SIGNED:
            return _moved(values, 1.0, self._dice.integers(0, 2, values.shape) * 2 - 1)
        if values.dtype.kind != "f" or not values.size or not values.ndim:
            return values
        magnitude = numpy.abs(values.astype(numpy.float64))
        error = 2 * _LAST_PLACES[values.dtype.itemsize] * (magnitude.max() if normalises else magnitude)
        return _moved(values, error, self._dice.integers(0, 2, values.shape) * 2 - 1)

    def _signs(self, values: Array, number: int) -> Array | int:
        """Up or down: all alike, every other operation the other way, then at random."""
        if self.runs < _SYSTEMATIC:
            sign = 1 if self.runs % 2 else -1
            return -sign if self.runs >= _SYSTEMATIC // 2 and number % 2 else sign
        signs: Array = self._dice.integers(0, 2, values.shape) * 2 - 1
        return signs


def own_error(step: Step, name: str, values: Array) -> Array | float:
    """How far an operation may move the elements of a result: twice the tolerance of floats, a step of quanta."""
    operation, operand = step.operation.type, step.graph.operands[name]
    if OPERAND_TYPES[operand.type].is_quantized:
        return 0.0 if operation in MOVED and _keeps_quanta(step, operand) else 1.0
    if values.dtype.kind != "f" or operation in _EXACT_FLOATS:
        return 0.0
    atol, rtol = _FLOOR[values.dtype.itemsize]
    error: Array = 2 * (atol + rtol * numpy.abs(values.astype(numpy.float64)))
    return error


def _keeps_quanta(step: Step, result: VectorOperand) -> bool:
    """True where every input of the result's type is quantised like it; else elements are rounded as they move."""
    inputs = [step.graph.operands[name] for name in step.operation.inputs]
    quantized = [(one.scale, one.zero_point) for one in inputs if one.type is result.type]
    return all(one == (result.scale, result.zero_point) for one in quantized)


def _moved(values: Array, error: Array | float, signs: Array | int) -> Array:
    if isinstance(error, float) and not error:
        return values
    moved = values.astype(numpy.float64) + error * signs
    if values.dtype.kind != "f":
        limits = numpy.iinfo(values.dtype.name)
        moved = numpy.clip(moved, limits.min, limits.max)
    with numpy.errstate(over="ignore"):
        return numpy.asarray(moved.astype(values.dtype))


def _distance(moved: Array | None, expected: Array) -> Array:
    """Absolute differences; infinite where there is nothing to compare, or only one of both is finite."""
    if moved is None or moved.shape != expected.shape:
        return numpy.full(expected.shape, numpy.inf)
    found = moved.astype(numpy.float64)
    with numpy.errstate(invalid="ignore"):
        distance = numpy.abs(found - expected)
    same = (found == expected) | (numpy.isnan(found) & numpy.isnan(expected))
    return numpy.where(same, 0.0, numpy.where(numpy.isnan(distance), numpy.inf, distance))


def _steps(graph: Graph | Vector) -> list[Step]:
    return [_step(graph, operation) for operation in graph.operations]


def _step(graph: Graph | Vector, operation: VectorOperation) -> Step:
    operands = {name: graph.operands[name] for name in (*operation.inputs, *operation.outputs)}
    return Step(operation, Graph(operands, (operation,), operation.inputs, operation.outputs))


def _known(graph: Graph | Vector, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """What is there before the first operation: constants and inputs."""
    constants = {name: operand.value for name, operand in graph.operands.items() if operand.value is not None}
    return {**constants, **inputs}
