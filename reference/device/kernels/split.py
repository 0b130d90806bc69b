"""SPLIT."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, integer, required


def split(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output k = the k-th of num_splits equal slices of input along axis."""
    return tuple(numpy.split(required(inputs[0]).data, integer(inputs[2]), axis=integer(inputs[1])))
