"""PAD_V2."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def pad_v2(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = input with pad_value around it; for a quantised input pad_value is the stored integer, its low byte."""
    tensor, value = required(inputs[0]), required(inputs[2])
    padding = value.data.astype(tensor.data.dtype)
    return (numpy.pad(tensor.data, required(inputs[1]).data, constant_values=padding),)
