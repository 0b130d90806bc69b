"""Geometry of the operations that slide a window over height and width, from the text of the operations' definitions.

Padding scheme 1 is SAME, 2 is VALID. Hazards: same-padding-tail, variant-by-type and nchw-activations-only.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from npu_conformance.corpus.oracles.base import Inputs, Result
from npu_conformance.specs.neuralnetworks.enums import OperandType

_SAME = 1


@dataclass(frozen=True)
class Axis:
    """One spatial axis: sizes in elements; head and tail are the padding before and after the input."""

    size: int
    window: int
    stride: int
    dilation: int = 1
    head: int = 0
    tail: int = 0

    @property
    def extent(self) -> int:
        """Elements between the first and the last element of the window, both included."""
        return (self.window - 1) * self.dilation + 1

    @property
    def count(self) -> int:
        """How many places the window has: the output's size."""
        places = [start for start in range(-self.head, self.size + self.tail) if self._fits(start)]
        return len(places[:: self.stride])

    @property
    def windows(self) -> list[list[tuple[int, int]]]:
        """The taps of every place."""
        return [self.taps(place) for place in range(self.count)]

    def taps(self, place: int) -> list[tuple[int, int]]:
        """(position in the window, position in the input) of the elements that are not padding."""
        start = place * self.stride - self.head
        positions = [(tap, start + tap * self.dilation) for tap in range(self.window)]
        return [(tap, position) for tap, position in positions if 0 <= position < self.size]

    def _fits(self, start: int) -> bool:
        return start + self.extent <= self.size + self.tail


def padded_axis(scheme: int, size: int, window: int, stride: int, dilation: int) -> Axis:
    """The axis with the padding a scheme gives it: SAME has the odd element at the tail, every other scheme none."""
    bare = Axis(size, window, stride, dilation)
    if scheme != _SAME:
        return bare
    places = -(-size // stride)
    missing = max(0, (places - 1) * stride + bare.extent - size)
    return Axis(size, window, stride, dilation, missing // 2, missing - missing // 2)


@dataclass(frozen=True)
class Layout:
    """Where the element (batch, row, column, channel) of an activation tensor is stored."""

    dimensions: tuple[int, ...]
    nchw: bool

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Batches, height, width, channels."""
        first, second, third, fourth = self.dimensions
        return (first, third, fourth, second) if self.nchw else (first, second, third, fourth)

    def flat(self, batch: int, row: int, column: int, channel: int) -> int:
        """The flat index."""
        _, second, third, fourth = self.dimensions
        if self.nchw:
            return ((batch * second + channel) * third + row) * fourth + column
        return ((batch * second + row) * third + column) * fourth + channel


def fill(
    batches: int,
    rows: int,
    columns: int,
    channels: int,
    nchw: bool,
    element: Callable[[int, int, int, int], int | float],
) -> Result:
    """The result whose element (batch, row, column, channel) is what `element` gives for it."""
    dimensions = (batches, channels, rows, columns) if nchw else (batches, rows, columns, channels)
    layout = Layout(dimensions, nchw)
    raw: list[int | float] = [0] * (batches * rows * columns * channels)
    for batch, row, column, channel in itertools.product(range(batches), range(rows), range(columns), range(channels)):
        raw[layout.flat(batch, row, column, channel)] = element(batch, row, column, channel)
    return Result(dimensions, raw)


@dataclass(frozen=True)
class Arguments:
    """The scalar arguments behind the tensors. middle: what stands between the strides and the activation."""

    pads: tuple[int, int, int, int] | None
    scheme: int
    stride_width: int
    stride_height: int
    middle: tuple[int, ...]
    activation: int
    nchw: bool = False
    dilation_width: int = 1
    dilation_height: int = 1

    def axes(self, height: int, width: int, window_height: int, window_width: int) -> tuple[Axis, Axis]:
        """The vertical and the horizontal axis."""
        if self.pads is None:
            return (
                padded_axis(self.scheme, height, window_height, self.stride_height, self.dilation_height),
                padded_axis(self.scheme, width, window_width, self.stride_width, self.dilation_width),
            )
        left, right, top, bottom = self.pads
        return (
            Axis(height, window_height, self.stride_height, self.dilation_height, top, bottom),
            Axis(width, window_width, self.stride_width, self.dilation_width, left, right),
        )


def arguments(inputs: Inputs, tensors: int, middle: int) -> Arguments:
    """Read the scalars after the first `tensors` inputs; `middle` of them stand between strides and activation.

    The explicit variant has three scalars more than the implicit one, which may have a BOOL and dilations behind it:
    where the implicit variant would have its BOOL, an INT32 tells that it is the explicit one (variant-by-type).
    """
    scalars = [operand for operand in inputs[tensors:] if operand is not None]
    implicit_count = 3 + middle + 1
    explicit = len(scalars) > implicit_count and scalars[implicit_count].type != OperandType.BOOL
    numbers = [int(operand.scalar) for operand in scalars]
    pads = (numbers[0], numbers[1], numbers[2], numbers[3]) if explicit else None
    rest = numbers[4:] if explicit else numbers[1:]
    optional = rest[3 + middle :]
    return Arguments(
        pads,
        numbers[0],
        rest[0],
        rest[1],
        tuple(rest[2 : 2 + middle]),
        rest[2 + middle],
        bool(optional[0]) if optional else False,
        optional[1] if len(optional) > 1 else 1,
        optional[2] if len(optional) > 1 else 1,
    )
