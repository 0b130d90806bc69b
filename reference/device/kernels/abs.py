"""ABS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def abs(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = |input|; the lowest TENSOR_INT32 wraps around to itself."""
    return (store(numpy.abs(real(required(inputs[0]))), outputs[0]),)
