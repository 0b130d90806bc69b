"""NOT_EQUAL: in0 != in1 with broadcasting, as TENSOR_BOOL8; NaN differs from everything, itself too."""

import operator

from npu_conformance.corpus.oracles._comparisons import compared
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result


def not_equal(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: two tensors."""
    return compared(inputs, operator.ne)
