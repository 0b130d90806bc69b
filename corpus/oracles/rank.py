"""RANK: the number of dimensions, whatever the type."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Result, present


def rank(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: tensor. The result is a scalar."""
    return [Result((), [len(present(inputs[0]).dimensions)])]
