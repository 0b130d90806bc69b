"""SQUEEZE."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, required


def squeeze(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = the elements of input without the squeezed axes of size 1, all of them where input 1 is omitted."""
    return (required(inputs[0]).data.reshape(outputs[0].dimensions),)
