"""TANH of each element."""

from __future__ import annotations

import math
from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Result, each


def tanh(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: one tensor."""
    return each(inputs[0], outputs[0], lambda x: math.tanh(x))
