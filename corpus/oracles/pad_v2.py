"""PAD_V2: the input surrounded by a given value, which for quantised types is a stored integer.

Hazard: pad-raw-zero.
"""

from npu_conformance.corpus.oracles._moves import padded
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def pad_v2(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, paddings [rank, 2] with the number of elements before and after on each axis, value."""
    source, paddings, value = map(present, inputs)
    return [padded(source, paddings.integers, value.scalar)]
