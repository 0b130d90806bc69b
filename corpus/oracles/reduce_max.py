"""REDUCE_MAX over axes: the largest of the real values."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles._reductions import reduced
from npu_conformance.corpus.oracles.base import OracleOperand, Result


def reduce_max(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """See `reduced` for the inputs."""
    return reduced(inputs, outputs, max)
