"""ELU: max(0, x) + min(0, alpha * (exp(x) - 1)) of each element; alpha may be negative."""

import math

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, each, larger, present, smaller


def elu(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: one tensor, alpha."""
    alpha = float(present(inputs[1]).scalar)
    return each(inputs[0], outputs[0], lambda x: _elu(float(x), alpha))


def _elu(x: float, alpha: float) -> float:
    """Far beyond 88, where exp(x) leaves float32, an argument of 700 is as good as any."""
    return larger(0.0, x) + smaller(0.0, alpha * math.expm1(min(x, 700.0)))
