"""TILE."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, integers, required


def tile(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output[i...] = input[i mod size...]: input multiples[k] times along axis k."""
    return (numpy.tile(required(inputs[0]).data, integers(inputs[1])),)
