"""ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM, POW, PRELU, SELECT."""

from __future__ import annotations

from itertools import zip_longest

import numpy as np

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError, check_size, quantization
from npu_conformance.specs.neuralnetworks.enums import FusedActivation, OperandType

INTEGER = OperandType.TENSOR_INT32


def add(step: Step) -> None:
    """ADD with a fused activation and broadcasting."""
    _arithmetic(step, "ADD", "Add")


def sub(step: Step) -> None:
    """SUB with a fused activation and broadcasting."""
    _arithmetic(step, "SUB", "Sub")


def mul(step: Step) -> None:
    """MUL with a fused activation and broadcasting."""
    _arithmetic(step, "MUL", "Mul")


def div(step: Step) -> None:
    """DIV of floats; of integers FLOOR_DIV, since NNAPI rounds the quotient down and LiteRT's DIV towards zero."""
    if not step.is_type(0, INTEGER):
        _arithmetic(step, "DIV", "Div")
        return
    # A zero divisor fails the whole run in LiteRT: it becomes 1, and a factor makes the quotient (any is right) 0.
    divisors = step.value(1)
    quotient, output = step.like(step.tensor(0)), step.output()
    safe = step.integers(np.where(divisors == 0, 1, divisors))
    step.graph.emit("FLOOR_DIV", [step.tensor(0), safe], quotient, "FloorDiv")
    factors = step.integers(divisors != 0)
    step.graph.emit("MUL", [quotient, factors], output, "Mul", fusedActivationFunction=0)


def maximum(step: Step) -> None:
    """MAXIMUM: the operands are brought to the output's quantisation first, since LiteRT compares stored values."""
    _extremum(step, "MAXIMUM")


def minimum(step: Step) -> None:
    """MINIMUM, as MAXIMUM."""
    _extremum(step, "MINIMUM")


def pow_(step: Step) -> None:
    """POW with broadcasting."""
    check_broadcast(step)
    step.graph.emit("POW", [step.tensor(0), step.tensor(1)], step.output(), "Pow")


def prelu(step: Step) -> None:
    """PRELU; LiteRT does not broadcast the input, which is brought to the output's shape first."""
    shape = check_broadcast(step)
    step.graph.emit("PRELU", [_spread(step, 0, shape), step.tensor(1)], step.output())


def select(step: Step) -> None:
    """SELECT: the inputs are brought to the output's quantisation first, since LiteRT copies stored values."""
    target = quantization(step.result())
    chosen = [step.requantized(step.tensor(position), target) for position in (1, 2)]
    step.graph.emit("SELECT", [step.cast(step.tensor(0), "bool"), *chosen], step.output(), "Select")


def check_broadcast(step: Step) -> tuple[int, ...]:
    """Return the shape that inputs 0 and 1 broadcast to; LoweringError for one that LiteRT cannot take safely."""
    pairs = zip_longest(reversed(step.dimensions(0)), reversed(step.dimensions(1)), fillvalue=1)
    shape = tuple(max(pair) for pair in pairs)[::-1]
    check_size(shape)
    return shape


def _spread(step: Step, position: int, shape: tuple[int, ...]) -> int:
    """An input in the shape that it broadcasts to."""
    number = step.tensor(position)
    if step.dimensions(position) == shape:
        return number
    spread = step.like(number)
    step.graph.emit("BROADCAST_TO", [number, step.integers(shape)], spread, "BroadcastTo")
    return spread


def _arithmetic(step: Step, builtin: str, options: str) -> None:
    check_broadcast(step)
    activation = step.activation(2)
    if step.is_type(0, INTEGER) and step.scalar(2) != FusedActivation.NONE:
        raise LoweringError("an activation fused to integer arithmetic")
    step.graph.emit(
        builtin, [step.tensor(0), step.tensor(1)], step.output(), options, fusedActivationFunction=activation
    )


def _extremum(step: Step, builtin: str) -> None:
    check_broadcast(step)
    target = quantization(step.result())
    operands = [step.requantized(step.tensor(position), target) for position in (0, 1)]
    step.graph.emit(builtin, operands, step.output(), "MaximumMinimum")
