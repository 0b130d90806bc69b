"""MIRROR_PAD."""

import numpy

from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required

_MODES = {0: "reflect", 1: "symmetric"}


def mirror_pad(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = input between its mirror images, which repeat the border (mode 1) or do not (mode 0)."""
    mode = _MODES[integer(inputs[2])]
    return (numpy.pad(required(inputs[0]).data, required(inputs[1]).data, mode=mode),)  # type: ignore[call-overload]
