"""RANK."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def rank(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = number of dimensions of input, a scalar."""
    return (numpy.array(required(inputs[0]).data.ndim, numpy.int32),)
