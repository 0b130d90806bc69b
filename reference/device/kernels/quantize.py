"""QUANTIZE."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def quantize(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = zero point + input / scale, rounded half away from zero and saturated."""
    return (store(real(required(inputs[0])), outputs[0]),)
