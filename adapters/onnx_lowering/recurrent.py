"""RNN, UNIDIRECTIONAL_SEQUENCE_RNN, BIDIRECTIONAL_SEQUENCE_RNN, SVDF, by their formulas and unrolled.

ONNX's own RNN has other activations than NNAPI's, and no auxiliary input.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npu_conformance.adapters.lowering.operands import LoweringError
from npu_conformance.adapters.onnx_lowering.context import FARTHEST, Step
from npu_conformance.specs.neuralnetworks.enums import FusedActivation

OPERATORS = {4: "Tanh", 6: "Sigmoid"}
"""The operators by the activation codes of cells, two more than those of fused activations."""


def rnn(step: Step) -> None:
    """RNN: one step, whose result is both the state and the output."""
    products = dense(step, step.real(0), step.real(1), step.real(3))
    state = _next(step, products, step.real(4), step.real(2), step.scalar(5))
    step.store(state)
    step.store(state, 1)


def unidirectional_sequence_rnn(step: Step) -> None:
    """UNIDIRECTIONAL_SEQUENCE_RNN."""
    axis = time_axis(step.scalar(6))
    products = [dense(step, row, step.real(1), step.real(3)) for row in rows_of(step, 0, axis)]
    states = _unrolled(step, products, step.real(4), step.real(2), step.scalar(5))
    step.store(joined(step, states, axis))
    if step.output_count > 1:
        step.store(states[-1], 1)


def bidirectional_sequence_rnn(step: Step) -> None:
    """BIDIRECTIONAL_SEQUENCE_RNN; without auxiliary weights the auxiliary input is the one of the backward cell."""
    axis = time_axis(step.scalar(13))
    rows, sequences, ends = rows_of(step, 0, axis), [], []
    others = [] if step.is_omitted(9) else rows_of(step, 9, axis)
    for direction, first in enumerate((1, 5)):
        read = others if others and direction == 1 and step.is_omitted(10) else rows
        products = [dense(step, row, step.real(first), step.real(first + 2)) for row in read]
        if others and not step.is_omitted(10):
            more = (dense(step, row, step.real(10 + direction)) for row in others)
            products = [step.emit("Add", *pair) for pair in zip(products, more, strict=True)]
        way = -1 if direction else 1
        states = _unrolled(step, products[::way], step.real(first + 3), step.real(first + 1), step.scalar(12))
        sequences.append(joined(step, states[::way], axis))
        ends.append(states[-1])
    results = [step.emit("Concat", *sequences, axis=2)] if step.scalar(14) else sequences
    for position, name in enumerate([*results, *ends][: step.output_count]):
        step.store(name, position)


def svdf(step: Step) -> None:
    """SVDF: the state of each filter, its last slot replaced, times the time weights; summed over slots and filters."""
    (filters, memory), batch, rank = step.dimensions(2), step.dimensions(0)[0], step.scalar(5)
    features = step.reshaped(dense(step, step.real(0), step.real(1)), [batch, filters, 1])
    given = step.reshaped(step.real(4), [batch, filters, memory])
    state = step.emit("Concat", _slots(step, given, 0, memory - 1), features, axis=2)
    sums = step.emit("ReduceSum", step.emit("Mul", state, step.real(2)), step.integers([2]), keepdims=0)
    grouped = step.reshaped(sums, [batch, filters // rank, rank])
    total = step.emit("ReduceSum", grouped, step.integers([2]), keepdims=0)
    biased = total if step.is_omitted(3) else step.emit("Add", total, step.real(3))
    empty = step.graph.constant(np.zeros((batch, filters, 1), np.float32))
    moved = step.emit("Concat", _slots(step, state, 1, FARTHEST), empty, axis=2)
    step.store(step.reshaped(moved, [batch, filters * memory]))
    step.store(step.activated(biased, step.activation(6)), 1)


def time_axis(is_time_major: int) -> int:
    """Return the axis of time of a sequence: of its first two axes the other one is the batch."""
    return 0 if is_time_major else 1


def dense(step: Step, source: str, weights: str, bias: str = "") -> str:
    """The product of rows with transposed weights, and a bias."""
    return step.emit("Gemm", source, weights, *([bias] if bias else []), transB=1)


def _next(step: Step, products: str, state: str, recurrent: str, activation: int) -> str:
    return activated(step, step.emit("Add", products, dense(step, state, recurrent)), activation)


def activated(step: Step, total: str, activation: int) -> str:
    """The value after the activation of a cell, by its code."""
    if activation in OPERATORS:
        return step.emit(OPERATORS[activation], total)
    if activation not in (FusedActivation.NONE, FusedActivation.RELU, FusedActivation.RELU6):
        raise LoweringError(f"activation {activation} of a cell")
    return step.activated(total, activation)


def _unrolled(step: Step, products: Sequence[str], state: str, recurrent: str, activation: int) -> list[str]:
    states = []
    for one in products:
        state = _next(step, one, state, recurrent, activation)
        states.append(state)
    return states


def rows_of(step: Step, position: int, axis: int) -> list[str]:
    """The [batch, size] parts of a sequence, one for each time."""
    source = step.real(position)
    times = range(step.dimensions(position)[axis])
    return [step.emit("Gather", source, step.number(time, np.int64), axis=axis) for time in times]


def joined(step: Step, states: Sequence[str], axis: int) -> str:
    """A sequence of states, along the axis of time."""
    place = step.integers([axis])
    return step.emit("Concat", *(step.emit("Unsqueeze", state, place) for state in states), axis=axis)


def _slots(step: Step, state: str, begin: int, end: int) -> str:
    """Slots of the memory, its last axis."""
    return step.emit("Slice", state, *map(step.integers, ([begin], [end], [2])))
