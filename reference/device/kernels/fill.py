"""FILL."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def fill(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = value everywhere, in the shape that the shape rule read from dims."""
    return (numpy.full(outputs[0].dimensions, required(inputs[1]).data),)
