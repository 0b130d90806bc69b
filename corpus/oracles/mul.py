"""MUL: activation(in0 * in1) with broadcasting; int32 wraps."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Result, arithmetic


def mul(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: two tensors, activation code."""
    return arithmetic(inputs, outputs, lambda a, b: a * b, lambda a, b: a * b)
