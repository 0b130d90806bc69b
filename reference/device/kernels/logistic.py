"""LOGISTIC."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def logistic(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = 1 / (1 + exp(-input))."""
    return (store(1.0 / (1.0 + numpy.exp(-real(required(inputs[0])))), outputs[0]),)
