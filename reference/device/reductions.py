"""Reductions along axes: what MEAN and the REDUCE operations share."""

from typing import Protocol

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, integers


class Reduction(Protocol):
    """A numpy reduction such as numpy.max."""

    def __call__(self, values: Array, /, *, axis: tuple[int, ...]) -> Array: ...


def reduced(values: Array, axes: Tensor | None, output: OutputInfo, reduction: Reduction) -> Array:
    """Return the values reduced over the axes, which may be negative or repeated, in the output's shape."""
    once = tuple({axis % values.ndim for axis in integers(axes)})
    return reduction(values, axis=once).reshape(output.dimensions)
