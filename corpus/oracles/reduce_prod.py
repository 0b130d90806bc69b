"""REDUCE_PROD over axes: the product in float64, rounded once."""

from __future__ import annotations

import math
from collections.abc import Sequence

from npu_conformance.corpus.oracles._reductions import reduced
from npu_conformance.corpus.oracles.base import OracleOperand, Result


def reduce_prod(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """See `reduced` for the inputs."""
    return reduced(inputs, outputs, math.prod)
