"""EXPAND_DIMS."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def expand_dims(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = the elements of input with one more axis of size 1."""
    return (required(inputs[0]).data.reshape(outputs[0].dimensions),)
