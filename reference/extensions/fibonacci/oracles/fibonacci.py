"""FIBONACCI: each number is the sum of the two before it; stored by fractions."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction

from npu_conformance.corpus.oracles.base import OracleOperand, Result, clamp, present, round_half_away


def fibonacci(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: how many numbers."""
    count = int(present(inputs[0]).scalar)
    scale, zero_point = struct.unpack("<dq", outputs[0].extension)
    numbers, following = [0], 1
    while len(numbers) < count:
        numbers.append(following)
        following += numbers[-2]
    stored = [round_half_away(number / Fraction(scale)) + zero_point for number in numbers]
    return [Result((count,), [clamp(value, outputs[0].limits) for value in stored])]
