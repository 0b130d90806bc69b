"""LOG."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def log(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = ln input; -infinity for 0, NaN for what is negative."""
    return (store(numpy.log(real(required(inputs[0]))), outputs[0]),)
