"""EQUAL: in0 == in1 with broadcasting, as TENSOR_BOOL8; nothing equals NaN."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from npu_conformance.corpus.oracles._comparisons import compared
from npu_conformance.corpus.oracles.base import OracleOperand, Result


def equal(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: two tensors."""
    return compared(inputs, operator.eq)
