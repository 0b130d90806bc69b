"""MEAN."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, integers, required


def mean(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """output = mean of input over the axes, which may be negative or repeated; no axes reduce nothing."""
    values = real(required(inputs[0]))
    axes = tuple({axis % values.ndim for axis in integers(inputs[1])})
    return (store(values.mean(axis=axes).reshape(outputs[0].dimensions), outputs[0]),)
