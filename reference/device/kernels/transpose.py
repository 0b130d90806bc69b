"""TRANSPOSE."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, integers, required


def transpose(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = input with axis i taken from axis perm[i]; an omitted perm reverses the axes."""
    order = None if inputs[1] is None else integers(inputs[1])
    return (numpy.transpose(required(inputs[0]).data, order),)
