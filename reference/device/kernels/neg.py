"""NEG."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def neg(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = -input; the lowest TENSOR_INT32 wraps around to itself."""
    return (store(-real(required(inputs[0])), outputs[0]),)
