"""LOGICAL_NOT: 1 where the byte is 0, else 0."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Result, each


def logical_not(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: one tensor of TENSOR_BOOL8."""
    return each(inputs[0], outputs[0], lambda x: int(x == 0))
