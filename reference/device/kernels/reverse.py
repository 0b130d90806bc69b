"""REVERSE."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, integers, required


def reverse(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output[..., i, ...] = input[..., size - 1 - i, ...] along the one axis."""
    return (numpy.flip(required(inputs[0]).data, tuple(integers(inputs[1]))),)
