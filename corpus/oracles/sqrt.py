"""SQRT: square root of each element."""

import math

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, each


def sqrt(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: one tensor."""
    return each(inputs[0], outputs[0], lambda x: math.sqrt(x) if x >= 0 else math.nan)
