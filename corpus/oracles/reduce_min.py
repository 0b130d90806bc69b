"""REDUCE_MIN over axes: the smallest of the real values."""

from functools import partial, reduce

from npu_conformance.corpus.oracles._reductions import reduced
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, smaller


def reduce_min(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """See `reduced` for the inputs."""
    return reduced(inputs, outputs, partial(reduce, smaller))
