"""Fused activation functions, on real values: rounding to a quantised output afterwards keeps their limits."""

import math

import numpy

from npu_conformance.reference.device.tensors import Array, Tensor, integer
from npu_conformance.specs.neuralnetworks.enums import FusedActivation

_LIMITS = {
    FusedActivation.RELU: (0.0, math.inf),
    FusedActivation.RELU1: (-1.0, 1.0),
    FusedActivation.RELU6: (0.0, 6.0),
}


def activate(values: Array, activation: FusedActivation) -> Array:
    """Clamp values to the range of the activation; NONE leaves them, infinities included."""
    if activation is FusedActivation.NONE:
        return values
    lowest, highest = _LIMITS[activation]
    return numpy.clip(values, lowest, highest)


def activation_of(tensor: Tensor | None) -> FusedActivation:
    """The activation that an operation's activation input names."""
    return FusedActivation(integer(tensor))
