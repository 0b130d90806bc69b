"""PACK."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, integer, required


def pack(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output[..., k, ...] = the k-th of the inputs behind the first, which names the new axis."""
    axis, *tensors = inputs
    return (numpy.stack([required(tensor).data for tensor in tensors], integer(axis)),)
