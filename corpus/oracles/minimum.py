"""MINIMUM: min(in0, in1) with broadcasting; quantised operands may have parameters of their own."""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, elementwise, present, smaller, stored


def minimum(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: two tensors. The smaller real value is requantised: the same, since rounding keeps order."""
    return elementwise(present(inputs[0]), present(inputs[1]), lambda a, b: stored(smaller(a, b), outputs[0]))
