"""PRELU: x where x >= 0, else alpha * x, both broadcast; quantised operands have parameters of their own."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Result, elementwise, present, stored


def prelu(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: x, alpha."""
    x, alpha = present(inputs[0]), present(inputs[1])
    return elementwise(x, alpha, lambda value, slope: stored(value if value >= 0 else slope * value, outputs[0]))
