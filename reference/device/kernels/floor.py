"""FLOOR."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def floor(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = the greatest integer not above input; infinities, NaN and -0 stay."""
    return (store(numpy.floor(real(required(inputs[0]))), outputs[0]),)
