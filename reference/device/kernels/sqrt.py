"""SQRT."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def sqrt(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = square root of input; NaN for what is negative."""
    return (store(numpy.sqrt(real(required(inputs[0]))), outputs[0]),)
