"""RNN, UNIDIRECTIONAL_SEQUENCE_RNN, BIDIRECTIONAL_SEQUENCE_RNN, SVDF: written as FULLY_CONNECTED, step by step.

LiteRT has operators of these names, but they keep the state to themselves, where NNAPI has it as input and output.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError

NO_BIAS = -1
ACTIVATIONS = {0: "", 1: "RELU", 3: "RELU6", 4: "TANH", 6: "LOGISTIC"}
"""The operators by the activation codes of cells, which are not those of fused activations."""


def rnn(step: Step) -> None:
    """RNN: one step, whose result is both the state and the output."""
    products = dense(step, step.tensor(0), step.tensor(1), step.tensor(3))
    state = _next(step, products, step.tensor(4), step.tensor(2), step.scalar(5))
    step.bind(state)
    step.bind(step.reshaped(state, (step.dimensions(4)[0], step.dimensions(2)[0])), 1)


def unidirectional_sequence_rnn(step: Step) -> None:
    """UNIDIRECTIONAL_SEQUENCE_RNN, unrolled."""
    major = bool(step.scalar(6))
    products = [dense(step, row, step.tensor(1), step.tensor(3)) for row in _rows(step, 0, major)]
    states = _unrolled(step, products, step.tensor(4), step.tensor(2), step.scalar(5))
    size = step.dimensions(4)[0], step.dimensions(2)[0]
    step.bind(_joined(step, states, size, major))
    if step.output_count > 1:
        step.bind(step.reshaped(states[-1], size), 1)


def bidirectional_sequence_rnn(step: Step) -> None:
    """BIDIRECTIONAL_SEQUENCE_RNN, unrolled in both directions."""
    activation, major, merge = (step.scalar(position) for position in (12, 13, 14))
    rows, sequences, ends = _rows(step, 0, bool(major)), [], []
    others = None if step.is_omitted(9) else _rows(step, 9, bool(major))
    for direction, offset in enumerate((1, 5)):
        read = others if others and direction == 1 and step.is_omitted(10) else rows
        products = [dense(step, row, step.tensor(offset), step.tensor(offset + 2)) for row in read]
        if others and not step.is_omitted(10):
            more = [dense(step, row, step.tensor(10 + direction), NO_BIAS) for row in others]
            products = [add(step, one, other) for one, other in zip(products, more, strict=True)]
        way = 1 if direction == 0 else -1
        states = _unrolled(step, products[::way], step.tensor(offset + 3), step.tensor(offset + 1), activation)
        size = step.dimensions(offset + 3)[0], step.dimensions(offset + 1)[0]
        sequences.append(_joined(step, states[::way], size, bool(major)))
        ends.append(step.reshaped(states[-1], size))
    results = [concatenated(step, sequences, 2)] if merge else sequences
    for position, number in enumerate([*results, *ends][: step.output_count]):
        step.bind(number, position)


def svdf(step: Step) -> None:
    """SVDF: the state of each filter, its last slot replaced, times the time weights; summed over slots and filters."""
    (filters, memory), batch, rank = step.dimensions(2), step.dimensions(0)[0], step.scalar(5)
    features = step.reshaped(dense(step, step.tensor(0), step.tensor(1), NO_BIAS), (batch, filters, 1))
    state = step.reshaped(step.tensor(4), (batch, filters, memory))
    if memory > 1:
        state = concatenated(step, [step.sliced(state, (0, 0, 0), (-1, -1, memory - 1)), features], 2)
    else:
        state = features
    products = step.like(state)
    step.graph.emit("MUL", [state, step.tensor(2)], products, "Mul", fusedActivationFunction=0)
    sums = step.reshaped(products, (batch, filters // rank, rank * memory))
    total = step.like(sums)
    step.graph.emit("SUM", [sums, step.integers([2])], total, "Reducer", keepDims=False)
    bias = step.graph.constant(np.zeros(1, np.float32)) if step.is_omitted(3) else step.tensor(3)
    step.bind(_moved_on(step, state, (batch, filters, memory)))
    step.graph.emit("ADD", [total, bias], step.output(1), "Add", fusedActivationFunction=step.activation(6))


def _moved_on(step: Step, state: int, shape: tuple[int, int, int]) -> int:
    """The state after all slots moved one to the left, with a 0 in the last one."""
    batch, filters, memory = shape
    parts = [step.graph.constant(np.zeros((batch, filters, 1), np.float32))]
    if memory > 1:
        parts.insert(0, step.sliced(state, (0, 0, 1), (-1, -1, -1)))
    return step.reshaped(concatenated(step, parts, 2), (batch, filters * memory))


def dense(step: Step, source: int, weights: int, bias: int) -> int:
    """The product of rows with transposed weights, and a bias or NO_BIAS."""
    result = step.like(source)
    step.graph.emit("FULLY_CONNECTED", [source, weights, bias], result, "FullyConnected", fusedActivationFunction=0)
    return result


def add(step: Step, one: int, other: int) -> int:
    """The sum of two tensors."""
    result = step.like(one)
    step.graph.emit("ADD", [one, other], result, "Add", fusedActivationFunction=0)
    return result


def concatenated(step: Step, parts: Sequence[int], axis: int) -> int:
    """Tensors side by side."""
    result = step.like(parts[0])
    step.graph.emit("CONCATENATION", parts, result, "Concatenation", axis=axis, fusedActivationFunction=0)
    return result


def _next(step: Step, products: int, state: int, recurrent: int, activation: int) -> int:
    if activation not in ACTIVATIONS:
        raise LoweringError(f"activation {activation} of a cell")
    total = add(step, products, dense(step, state, recurrent, NO_BIAS))
    if not ACTIVATIONS[activation]:
        return total
    result = step.like(total)
    step.graph.emit(ACTIVATIONS[activation], [total], result)
    return result


def _unrolled(step: Step, products: Sequence[int], state: int, recurrent: int, activation: int) -> list[int]:
    states = []
    for one in products:
        state = _next(step, one, state, recurrent, activation)
        states.append(state)
    return states


def _rows(step: Step, position: int, major: bool) -> list[int]:
    """The [batch, size] parts of a sequence, one for each time."""
    first, second, size = step.dimensions(position)
    times, batches = (first, second) if major else (second, first)
    extent = [1, batches, size] if major else [batches, 1, size]
    begins = ([time, 0, 0] if major else [0, time, 0] for time in range(times))
    parts = (step.sliced(step.tensor(position), begin, extent) for begin in begins)
    return [step.reshaped(part, (batches, size)) for part in parts]


def _joined(step: Step, states: Sequence[int], size: tuple[int, int], major: bool) -> int:
    batches, units = size
    shape = (1, batches, units) if major else (batches, 1, units)
    return concatenated(step, [step.reshaped(state, shape) for state in states], 0 if major else 1)
