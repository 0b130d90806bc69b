"""FIBONACCI_DEQUANTIZE: (q - zero point) * scale by fractions, rounded once to float32 by its type."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction

from npu_conformance.corpus.oracles.base import OracleOperand, Result, present


def fibonacci_dequantize(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: one tensor."""
    source = present(inputs[0])
    scale, zero_point = struct.unpack("<dq", source.extension)
    return [Result(source.dimensions, [float((number - zero_point) * Fraction(scale)) for number in source.integers])]
