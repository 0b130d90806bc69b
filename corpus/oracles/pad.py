"""PAD: the input surrounded by real zeros, which quantised types store as their zero point (hazard pad-raw-zero)."""

from npu_conformance.corpus.oracles._moves import padded
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def pad(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, paddings [rank, 2] with the number of elements before and after on each axis."""
    source, paddings = map(present, inputs)
    return [padded(source, paddings.integers, source.zero_point)]
