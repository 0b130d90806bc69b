"""MAXIMUM: max(in0, in1) with broadcasting; quantised operands may have parameters of their own."""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, elementwise, larger, present, stored


def maximum(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: two tensors. The larger real value is requantised: the same, since rounding keeps order."""
    return elementwise(present(inputs[0]), present(inputs[1]), lambda a, b: stored(larger(a, b), outputs[0]))
