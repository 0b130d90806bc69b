"""Sliding windows over height and width: what convolutions and pooling share. Data is NHWC inside."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy

from npu_conformance.reference.device.activation import activation_of
from npu_conformance.reference.device.tensors import Array, Inputs, Tensor, integer
from npu_conformance.specs.neuralnetworks.enums import FusedActivation, OperandType, PaddingScheme

MOST_ELEMENTS = 1 << 26
"""How many elements windows may visit, or padding may make: a model may ask for more than can ever be computed."""

_EXPLICIT_INTEGERS = 7
"""How many integers of the explicit form precede those of one operation: four pads, two strides, one activation."""


@dataclass(frozen=True)
class Parameters:
    """The inputs of a windowed operation after its tensors. Pairs are (height, width).

    pads: (before, after) of each axis, None where the scheme decides. scheme: a PaddingScheme, without meaning where
    pads are given. extra: the integers of one operation alone, in order: depth multiplier, or filter width and height.
    """

    pads: tuple[tuple[int, int], tuple[int, int]] | None
    scheme: int
    strides: tuple[int, int]
    extra: tuple[int, ...]
    activation: FusedActivation
    nchw: bool
    dilations: tuple[int, int]


@dataclass(frozen=True)
class Axis:
    """A window along one axis, in elements: of the input, of the filter, of zeros before and after, of the output."""

    size: int
    filter: int
    stride: int
    dilation: int
    before: int
    after: int

    @property
    def extent(self) -> int:
        """How far the dilated filter reaches."""
        return (self.filter - 1) * self.dilation + 1

    @property
    def output(self) -> int:
        """How many positions the filter takes."""
        return (self.size - self.extent + self.stride + self.before + self.after) // self.stride


def read_parameters(inputs: Inputs, first: int, extra: int) -> Parameters:
    """Read the parameters that start at input `first`, with `extra` integers between strides and activation.

    The explicit form gives four pads where the implicit one gives a padding scheme, so the integers before the
    optional layout flag tell them apart, also where both forms have the same number of inputs.
    """
    rest = inputs[first:]
    numbers = list(itertools.takewhile(_is_integer, rest))
    values = [integer(number) for number in numbers]
    explicit = len(numbers) == _EXPLICIT_INTEGERS + extra
    width, height, *own = values[4:-1] if explicit else values[1:-1]
    trailing = [integer(number) for number in rest[len(numbers) :]]
    return Parameters(
        pads=_pads(*values[:4]) if explicit else None,
        scheme=values[0],
        strides=(height, width),
        extra=tuple(own),
        activation=activation_of(numbers[-1]),
        nchw=bool(trailing and trailing[0]),
        dilations=(trailing[2], trailing[1]) if len(trailing) == 3 else (1, 1),
    )


def _pads(left: int, right: int, top: int, bottom: int) -> tuple[tuple[int, int], tuple[int, int]]:
    return (top, bottom), (left, right)


def axes(parameters: Parameters, sizes: tuple[int, int], filters: tuple[int, int]) -> tuple[Axis, Axis]:
    """Lay the window over height and width. sizes: of the input; filters: of the filter."""
    height, width = (_axis(parameters, index, sizes[index], filters[index]) for index in range(2))
    return height, width


def pad(data: Array, height: Axis, width: Axis, value: float = 0.0) -> Array:
    """Return NHWC data with `value` around height and width."""
    batches, _, _, channels = data.shape
    window = height.output * height.filter * width.output * width.filter
    padded = (height.size + height.before + height.after) * (width.size + width.before + width.after)
    if batches * channels * max(window, padded) > MOST_ELEMENTS:
        raise MemoryError(f"windows over {batches * channels * max(window, padded)} elements")
    if not any((height.before, height.after, width.before, width.after)):
        return data
    around = ((0, 0), (height.before, height.after), (width.before, width.after), (0, 0))
    return numpy.pad(data, around, constant_values=value)


def windows(padded: Array, height: Axis, width: Axis) -> Array:
    """Return a view [batches, output height, output width, filter height, filter width, channels] of padded data."""
    batches, _, _, channels = padded.shape
    batch_step, row, column, channel_step = padded.strides
    return numpy.lib.stride_tricks.as_strided(
        padded,
        (batches, height.output, width.output, height.filter, width.filter, channels),
        (
            batch_step,
            row * height.stride,
            column * width.stride,
            row * height.dilation,
            column * width.dilation,
            channel_step,
        ),
        writeable=False,
    )


def positions(axis: Axis, index: int) -> slice:
    """The elements of padded data under filter position `index`, one for each output position."""
    start = index * axis.dilation
    return slice(start, start + (axis.output - 1) * axis.stride + 1, axis.stride)


def summed_inside(data: Array, height: Axis, width: Axis, times: Callable[[Array, tuple[int, int]], Array]) -> Array:
    """Sum over the positions of a filter, where they lie on NHWC data: padding is left out, whatever its weights are.

    times: multiplies the data under a position of the filter, (row, column), by the weights there.
    """
    padded, is_data = pad(data, height, width), pad(numpy.ones((1, height.size, width.size, 1)), height, width) > 0
    total: Array | float = 0.0
    for row, column in numpy.ndindex(height.filter, width.filter):
        part = (slice(None), positions(height, row), positions(width, column))
        total = total + numpy.where(is_data[part], times(padded[part], (row, column)), 0.0)
    return numpy.asarray(total, data.dtype)


def counts_inside(height: Axis, width: Axis) -> Array:
    """Return how many elements of each window are data, not padding: [1, output height, output width, 1]."""
    ones = pad(numpy.ones((1, height.size, width.size, 1)), height, width)
    counts: Array = windows(ones, height, width).sum(axis=(3, 4))
    return counts


def to_nhwc(data: Array, nchw: bool) -> Array:
    """Return data as NHWC; nchw: its layout is NCHW."""
    return data.transpose(0, 2, 3, 1) if nchw else data


def from_nhwc(data: Array, nchw: bool) -> Array:
    """Return NHWC data in the layout of the operation."""
    return numpy.ascontiguousarray(data.transpose(0, 3, 1, 2)) if nchw else data


def _is_integer(tensor: Tensor | None) -> bool:
    return tensor is not None and tensor.operand_type == OperandType.INT32


def _axis(parameters: Parameters, index: int, size: int, filter_size: int) -> Axis:
    stride, dilation = parameters.strides[index], parameters.dilations[index]
    if parameters.pads is not None:
        before, after = parameters.pads[index]
    elif parameters.scheme == PaddingScheme.SAME:
        extent = (filter_size - 1) * dilation + 1
        output = -(-size // stride)
        total = max((output - 1) * stride + extent - size, 0)
        before, after = total // 2, total - total // 2
    else:
        before, after = 0, 0
    return Axis(size, filter_size, stride, dilation, before, after)
