"""LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM, BIDIRECTIONAL_SEQUENCE_LSTM, by their formulas and unrolled.

ONNX's own LSTM has no projection and no layer normalisation. The operands of a cell stand in one order everywhere:
four weights of the input, four recurrent ones, three peepholes, four biases (each of input, forget, cell, output gate),
projection weights and bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from npu_conformance.adapters.onnx_lowering.context import Step
from npu_conformance.adapters.onnx_lowering.recurrent import activated, dense, joined, rows_of, time_axis

INPUT_GATE, FORGET_GATE, CELL_GATE, OUTPUT_GATE = range(4)
PEEPHOLES = {INPUT_GATE: 0, FORGET_GATE: 1, OUTPUT_GATE: 2}
NORM_EPSILON = 1e-8


@dataclass(frozen=True)
class Cell:
    """A cell by the positions of its operands. first: input weights; norm: layer normalisation; settings: activation.

    auxiliary: weights of the auxiliary input, None without one.
    """

    step: Step
    first: int
    norm: int
    settings: int
    auxiliary: int | None = None

    def run(self, row: str, other: str, state: str, memory: str) -> tuple[str, str]:
        """One step: the new output and cell states. other: the auxiliary row, empty without one."""
        step = self.step
        forget = step.emit("Sigmoid", self._gate(FORGET_GATE, row, other, state, memory))
        candidate = activated(step, self._gate(CELL_GATE, row, other, state, memory), step.scalar(self.settings))
        if step.is_omitted(self.first):
            entry = step.emit("Sub", step.number(1), forget)
        else:
            entry = step.emit("Sigmoid", self._gate(INPUT_GATE, row, other, state, memory))
        memory = step.emit("Add", step.emit("Mul", forget, memory), step.emit("Mul", entry, candidate))
        memory = self._clipped(memory, self.settings + 1)
        opening = step.emit("Sigmoid", self._gate(OUTPUT_GATE, row, other, state, memory))
        result = step.emit("Mul", opening, activated(step, memory, step.scalar(self.settings)))
        return self._projected(result), memory

    def _gate(self, gate: int, row: str, other: str, state: str, memory: str) -> str:
        step = self.step
        total = step.emit(
            "Add", dense(step, row, step.real(self.first + gate)), dense(step, state, step.real(self.first + 4 + gate))
        )
        if other and self.auxiliary is not None:
            total = step.emit("Add", total, dense(step, other, step.real(self.auxiliary + gate)))
        peephole = self.first + 8 + PEEPHOLES.get(gate, 0)
        if gate in PEEPHOLES and not step.is_omitted(peephole):
            total = step.emit("Add", total, step.emit("Mul", memory, step.real(peephole)))
        bias = step.real(self.first + 11 + gate)
        if step.is_omitted(self.norm + gate):
            return step.emit("Add", total, bias)
        return step.emit("LayerNormalization", total, step.real(self.norm + gate), bias, epsilon=NORM_EPSILON)

    def _projected(self, result: str) -> str:
        step, weights = self.step, self.first + 15
        if step.is_omitted(weights):
            return result
        bias = "" if step.is_omitted(weights + 1) else step.real(weights + 1)
        return self._clipped(dense(step, result, step.real(weights), bias), self.settings + 2)

    def _clipped(self, name: str, position: int) -> str:
        bound = self.step.scalar(position)
        return self.step.clipped(name, -bound, bound) if bound > 0 else name


def lstm(step: Step) -> None:
    """LSTM; the scratch buffer, which no one may look into, holds zeros."""
    state, memory = Cell(step, first=1, norm=23, settings=20).run(step.real(0), "", step.real(18), step.real(19))
    gates = 3 if step.is_omitted(1) else 4
    batch, units = step.dimensions(19)
    step.store(step.emit("Expand", step.number(0), step.integers([batch, gates * units])))
    for position, name in enumerate((state, memory, state), 1):
        step.store(name, position)


def unidirectional_sequence_lstm(step: Step) -> None:
    """UNIDIRECTIONAL_SEQUENCE_LSTM."""
    axis, cell = time_axis(step.scalar(23)), Cell(step, first=1, norm=24, settings=20)
    rows = rows_of(step, 0, axis)
    states, memory = _unrolled(cell, rows, [""] * len(rows), step.real(18), step.real(19))
    results = [joined(step, states, axis), states[-1], memory]
    for position, name in enumerate(results[: step.output_count]):
        step.store(name, position)


def bidirectional_sequence_lstm(step: Step) -> None:
    """BIDIRECTIONAL_SEQUENCE_LSTM; without auxiliary weights the auxiliary input is the one of the backward cell."""
    axis, sequences, ends = time_axis(step.scalar(52)), [], []
    rows, nothing = rows_of(step, 0, axis), [""] * step.dimensions(0)[time_axis(step.scalar(52))]
    others = nothing if step.is_omitted(39) else rows_of(step, 39, axis)
    has_weights = not step.is_omitted(41)
    for direction in range(2):
        cell = Cell(step, 1 + 17 * direction, 53 + 4 * direction, 48, 40 + 4 * direction if has_weights else None)
        read = others if direction and others[0] and not has_weights else rows
        way = -1 if direction else 1
        begin = [step.real(35 + 2 * direction + position) for position in range(2)]
        states, memory = _unrolled(cell, read[::way], others[::way], *begin)
        sequences.append(joined(step, states[::way], axis))
        ends += [states[-1], memory]
    results = [step.emit("Concat", *sequences, axis=2)] if step.scalar(51) else sequences
    for position, name in enumerate([*results, *ends][: step.output_count]):
        step.store(name, position)


def _unrolled(cell: Cell, rows: Sequence[str], others: Sequence[str], state: str, memory: str) -> tuple[list[str], str]:
    states = []
    for row, other in zip(rows, others, strict=True):
        state, memory = cell.run(row, other, state, memory)
        states.append(state)
    return states, memory
