"""LESS: in0 < in1 with broadcasting, as TENSOR_BOOL8; false beside NaN."""

import operator

from npu_conformance.corpus.oracles._comparisons import compared
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result


def less(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: two tensors."""
    return compared(inputs, operator.lt)
