"""GREATER_EQUAL."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.device.comparison import operands, truth
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor


def greater_equal(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = input0 >= input1, broadcast, of real values in float32; TENSOR_BOOL8 by its bytes."""
    left, right = operands(inputs)
    return (truth(left >= right),)
