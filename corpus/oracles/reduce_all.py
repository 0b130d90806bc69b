"""REDUCE_ALL over axes: 1 where no element is 0 (false), else 0; any other byte is true."""

from npu_conformance.corpus.oracles._reductions import reduced
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result


def reduce_all(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """See `reduced` for the inputs."""
    return reduced(inputs, outputs, all)
