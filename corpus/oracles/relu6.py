"""RELU6: min(6, max(0, x)) of each element; the output is quantised as the input."""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, activated, present
from npu_conformance.specs.neuralnetworks.enums import FusedActivation


def relu6(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: one tensor."""
    source = present(inputs[0])
    values = [activated(real, FusedActivation.RELU6, outputs[0]) for real in source.reals]
    return [Result(source.dimensions, values)]
