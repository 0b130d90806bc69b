"""REDUCE_ALL over axes: 1 where no element is 0 (false), else 0; any other byte is true."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles._reductions import reduced
from npu_conformance.corpus.oracles.base import OracleOperand, Result


def reduce_all(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """See `reduced` for the inputs."""
    return reduced(inputs, outputs, all)
