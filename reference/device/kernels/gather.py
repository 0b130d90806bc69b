"""GATHER."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, integer, required


def gather(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output[..., i..., ...] = input[..., indices[i...], ...] along axis."""
    return (numpy.take(required(inputs[0]).data, required(inputs[2]).data, axis=integer(inputs[1])),)
