"""MAXIMUM."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def maximum(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = the larger of input0 and input1, broadcast; quantisations may all differ."""
    return (store(numpy.maximum(real(required(inputs[0])), real(required(inputs[1]))), outputs[0]),)
