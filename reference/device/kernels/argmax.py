"""ARGMAX."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, integer, required


def argmax(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = index of the largest element of input along axis, as stored; of equal ones the first."""
    indexes = required(inputs[0]).data.argmax(axis=integer(inputs[1]))
    return (indexes.reshape(outputs[0].dimensions).astype(numpy.int32),)
