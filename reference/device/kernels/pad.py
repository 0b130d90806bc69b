"""PAD."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def pad(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = input with real zeros around it: the zero point where quantised."""
    tensor = required(inputs[0])
    return (numpy.pad(tensor.data, required(inputs[1]).data, constant_values=tensor.zero_point),)
