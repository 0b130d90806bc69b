"""SIN: sine of each element, in radians."""

import math

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, each


def sin(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: one tensor."""
    return each(inputs[0], outputs[0], lambda x: math.nan if math.isinf(x) else math.sin(x))
