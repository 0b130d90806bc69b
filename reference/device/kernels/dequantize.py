"""DEQUANTIZE."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def dequantize(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = scale * (input - zero point), with a scale for each channel where the input has them."""
    return (store(real(required(inputs[0])), outputs[0]),)
