"""ECHO_PARAMETERS: the number of bytes, and the CRC-32 of IEEE 802.3 by its polynomial, bit by bit."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Result, present

_POLYNOMIAL = 0xEDB88320


def echo_parameters(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: an operand with parameters. Its elements mean nothing."""
    data = present(inputs[0]).extension
    remainder = 0xFFFFFFFF
    for byte in data:
        remainder ^= byte
        for _ in range(8):
            remainder = remainder >> 1 ^ (_POLYNOMIAL if remainder & 1 else 0)
    check = remainder ^ 0xFFFFFFFF
    return [Result((2,), [len(data), check - (1 << 32) if check >> 31 else check])]
