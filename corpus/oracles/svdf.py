"""SVDF: for each filter the newest feature joins the last ones; rank filters together make a unit.

Hazard: svdf-state-size.
"""

from collections.abc import Sequence
from fractions import Fraction

from npu_conformance.corpus.oracles.base import (
    Inputs,
    OracleOperand,
    Outputs,
    Real,
    Result,
    activated,
    present,
    rounded_float,
)


def svdf(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: input, feature weights, time weights, bias, state, rank, activation. Outputs: state, output."""
    source, features, times = map(present, inputs[:3])
    bias, state = inputs[3], present(inputs[4])
    rank, activation = (int(present(operand).scalar) for operand in inputs[5:])
    filters, memory = times.dimensions
    states: list[float] = []
    raw: list[int | float] = []
    for batch in range(source.dimensions[0]):
        answers = []
        for number in range(filters):
            # The slot of the newest feature is the last one; what it held before is not used.
            past = [float(state.at(batch, number * memory + slot)) for slot in range(memory - 1)]
            slots = [*past, _feature(source, features, batch, number)]
            answers.append(_product([times.at(number, slot) for slot in range(memory)], slots))
            states += [*slots[1:], 0.0]
        for unit in range(filters // rank):
            start: Real = 0 if bias is None else bias.at(unit)
            total = Fraction(start) + sum(answers[unit * rank : (unit + 1) * rank])
            raw.append(activated(total, activation, outputs[1]))
    return [Result(state.dimensions, states), Result((source.dimensions[0], filters // rank), raw)]


def _feature(source: OracleOperand, features: OracleOperand, batch: int, number: int) -> float:
    sizes = range(source.dimensions[1])
    row, weights = ([operand.at(index, k) for k in sizes] for operand, index in ((source, batch), (features, number)))
    return rounded_float(_product(row, weights), source.type)


def _product(first: Sequence[Real], second: Sequence[Real]) -> Fraction:
    total = Fraction(0)
    for one, other in zip(first, second, strict=True):
        total += Fraction(one) * Fraction(other)
    return total
