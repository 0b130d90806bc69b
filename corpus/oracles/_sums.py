"""Sums of products: what convolutions and fully connected layers have in common.

Hazards: activation-in-quanta and bias-scale.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from npu_conformance.corpus.oracles.base import OracleOperand, activated, clamp, nearest
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

Exact = int | float
"""A product of two factors: of integers, or of two floats of at most 24 bits, which float64 holds exactly."""


def centred(operand: OracleOperand) -> Sequence[Exact]:
    """The elements as factors: floats as they are, stored integers less the zero point of all other types."""
    if OPERAND_TYPES[operand.type].dtype.startswith("float"):
        return operand.raw
    return [int(value) - operand.zero_point for value in operand.raw]


def total(products: Sequence[Exact]) -> Exact:
    """The sum: exact of integers; of floats the exact sum, rounded once to float64."""
    return math.fsum(products) if isinstance(products[0], float) else sum(products)


def activation_limits(activation: int, output: OracleOperand) -> tuple[int, int]:
    """The smallest and the largest stored integer that a fused activation leaves of a quantised type.

    Hazard: activation-in-quanta.
    """
    return int(activated(-math.inf, activation, output)), int(activated(math.inf, activation, output))


class Finish:
    """Turns the sum of an output element into what is stored: scaled, activated, rounded once, saturated."""

    def __init__(self, source: OracleOperand, weights: OracleOperand, output: OracleOperand, activation: int) -> None:
        self._output, self._activation = output, activation
        self._scales: list[tuple[int, int]] = []
        if output.is_quantized:
            unit = Fraction(source.scale) / Fraction(output.scale)
            self._scales = [(unit * scale).as_integer_ratio() for scale in _scales(weights)]
            self._limits = activation_limits(activation, output)

    def store(self, products: Sequence[Exact], channel: int) -> int | float:
        """The stored element of an output channel, the sum of `products`, of which one is the bias."""
        if not self._scales:
            return activated(total(products), self._activation, self._output)
        numerator, denominator = self._scales[channel if len(self._scales) > 1 else 0]
        steps = nearest(int(total(products)) * numerator, denominator)
        return clamp(self._output.zero_point + steps, self._limits)


def _scales(weights: OracleOperand) -> list[Fraction]:
    if weights.channel_quant is not None:
        return [Fraction(scale) for scale in weights.channel_quant.scales]
    return [Fraction(weights.scale)]
