"""REDUCE_MAX over axes: the largest of the real values."""

from functools import partial, reduce

from npu_conformance.corpus.oracles._reductions import reduced
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, larger


def reduce_max(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """See `reduced` for the inputs."""
    return reduced(inputs, outputs, partial(reduce, larger))
