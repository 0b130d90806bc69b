"""HARD_SWISH: x * min(6, max(0, x + 3)) / 6 of each element; the output has quantisation parameters of its own."""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, each


def hard_swish(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: one tensor."""
    return each(inputs[0], outputs[0], lambda x: x * min(6, max(0, x + 3)) / 6)
