"""EXAMPLE_REQUANTIZE: (q - zero point) * scale of the input, stored in the output's quantisation, by fractions."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction

from npu_conformance.corpus.oracles.base import OracleOperand, Result, clamp, present, round_half_away


def _parameters(operand: OracleOperand) -> tuple[Fraction, int]:
    scale, zero_point = struct.unpack("<dq", operand.extension)
    return Fraction(scale), zero_point


def example_requantize(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: one tensor."""
    source, output = present(inputs[0]), outputs[0]
    (scale, zero_point), (new_scale, new_zero_point) = _parameters(source), _parameters(output)
    real = [(element - zero_point) * scale for element in source.integers]
    stored = [clamp(round_half_away(value / new_scale) + new_zero_point, output.limits) for value in real]
    return [Result(source.dimensions, stored)]
