"""Sums of products: what convolutions and fully connected layers have in common.

Hazards: activation-in-quanta and bias-scale.
"""

from collections.abc import Sequence
from fractions import Fraction

from npu_conformance.corpus.oracles.base import OracleOperand, activated, clamp, round_half_away
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

Exact = int | Fraction


def centred(operand: OracleOperand) -> Sequence[Exact]:
    """The elements as factors: exact values of floats, stored integers less the zero point of all other types."""
    if OPERAND_TYPES[operand.type].dtype.startswith("float"):
        return [Fraction(value) for value in operand.raw]
    return [int(value) - operand.zero_point for value in operand.raw]


def activation_limits(activation: int, output: OracleOperand) -> tuple[int, int]:
    """The smallest and the largest stored integer that a fused activation leaves of a quantised type.

    Hazard: activation-in-quanta.
    """
    beyond = Fraction(output.scale) * 2**40
    return int(activated(-beyond, activation, output)), int(activated(beyond, activation, output))


class Finish:
    """Turns the sum of an output element into what is stored: scaled, activated, rounded once, saturated."""

    def __init__(self, source: OracleOperand, weights: OracleOperand, output: OracleOperand, activation: int) -> None:
        self._output, self._activation = output, activation
        self._scales: list[Fraction] = []
        if output.is_quantized:
            self._scales = [Fraction(source.scale) * scale / Fraction(output.scale) for scale in _scales(weights)]
            self._limits = activation_limits(activation, output)

    def store(self, total: Exact, channel: int) -> int | float:
        """The stored element of an output channel whose sum, bias included, is `total`."""
        if not self._scales:
            return activated(total, self._activation, self._output)
        scale = self._scales[channel if len(self._scales) > 1 else 0]
        return clamp(self._output.zero_point + round_half_away(total * scale), self._limits)


def _scales(weights: OracleOperand) -> list[Fraction]:
    if weights.channel_quant is not None:
        return [Fraction(scale) for scale in weights.channel_quant.scales]
    return [Fraction(weights.scale)]
