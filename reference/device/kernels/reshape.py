"""RESHAPE."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def reshape(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = the elements of input, row-major, in the shape that the shape rule read from input 1."""
    return (required(inputs[0]).data.reshape(outputs[0].dimensions),)
