"""REDUCE_PROD over axes: the product in float64, rounded once."""

import math

from npu_conformance.corpus.oracles._reductions import reduced
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result


def reduce_prod(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """See `reduced` for the inputs."""
    return reduced(inputs, outputs, math.prod)
