"""ABS: |x| of each element."""

import math

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, each


def abs(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: one tensor."""
    return each(inputs[0], outputs[0], math.fabs)
