"""REDUCE_ANY over axes: 1 where some element is not 0 (false), else 0."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles._reductions import reduced
from npu_conformance.corpus.oracles.base import OracleOperand, Result


def reduce_any(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """See `reduced` for the inputs."""
    return reduced(inputs, outputs, any)
