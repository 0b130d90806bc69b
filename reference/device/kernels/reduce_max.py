"""REDUCE_MAX."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.reductions import reduced
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def reduce_max(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = largest element of input over the axes, as stored: both have one quantisation."""
    return (reduced(required(inputs[0]).data, inputs[1], outputs[0], numpy.max),)
