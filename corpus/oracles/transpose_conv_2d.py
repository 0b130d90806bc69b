"""TRANSPOSE_CONV_2D: every input element, times the filter, is added to a window of the output.

Hazard: transposed-padding.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from npu_conformance.corpus.oracles._sums import Finish, centred
from npu_conformance.corpus.oracles._windows import Arguments, Layout, arguments, fill
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present
from npu_conformance.specs.neuralnetworks.enums import OperandType

_SAME = 1


@dataclass(frozen=True)
class _Axis:
    """One spatial axis. head and tail: what is cut off the output; a negative tail adds to it."""

    size: int
    window: int
    stride: int
    head: int
    tail: int

    @property
    def count(self) -> int:
        """Size of the output."""
        return (self.size - 1) * self.stride + self.window - self.head - self.tail

    def taps(self, place: int) -> list[tuple[int, int]]:
        """(position in the window, position in the input) of all that is added to one place of the output."""
        pairs = ((tap, place + self.head - tap) for tap in range(self.window))
        found = [(tap, distance // self.stride) for tap, distance in pairs if distance % self.stride == 0]
        return [(tap, position) for tap, position in found if 0 <= position < self.size]


def transpose_conv_2d(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Filter [output channels, height, width, input channels], whatever the layout of the activations."""
    source, weights, bias, fourth = map(present, inputs[:4])
    wanted = fourth.integers if fourth.type is OperandType.TENSOR_INT32 else None
    given = arguments(inputs, 3 if wanted is None else 4, 0)
    layout = Layout(source.dimensions, given.nchw)
    vertical, horizontal = _axes(given, layout, weights.dimensions, wanted)
    batches, _, _, in_channels = layout.sizes
    out_channels, window_height, window_width, _ = weights.dimensions
    finish = Finish(source, weights, outputs[0], given.activation)
    values, factors, start = centred(source), centred(weights), centred(bias)

    def element(batch: int, row: int, column: int, channel: int) -> int | float:
        products = [start[channel]]
        for tap_row, in_row in vertical.taps(row):
            for tap_column, in_column in horizontal.taps(column):
                tap = (channel * window_height + tap_row) * window_width + tap_column
                for in_channel in range(in_channels):
                    value = values[layout.flat(batch, in_row, in_column, in_channel)]
                    products.append(value * factors[tap * in_channels + in_channel])
        return finish.store(products, channel)

    return [fill(batches, vertical.count, horizontal.count, out_channels, given.nchw, element)]


def _axes(given: Arguments, layout: Layout, window: Sequence[int], wanted: Sequence[int] | None) -> tuple[_Axis, _Axis]:
    """wanted: the output's shape in its own layout, of which height and width choose the padding of scheme SAME."""
    _, height, width, _ = layout.sizes
    if wanted is None:
        left, right, top, bottom = given.pads or (0, 0, 0, 0)
    else:
        rows, columns = wanted[2:] if given.nchw else wanted[1:3]
        top, bottom = _scheme(given.scheme, rows, window[1], given.stride_height)
        left, right = _scheme(given.scheme, columns, window[2], given.stride_width)
    return (
        _Axis(height, window[1], given.stride_height, top, bottom),
        _Axis(width, window[2], given.stride_width, left, right),
    )


def _scheme(scheme: int, wanted: int, window: int, stride: int) -> tuple[int, int]:
    if scheme != _SAME:
        return 0, 0
    needed = (-(-wanted // stride) - 1) * stride + window
    head = max(needed - wanted, 0) // 2
    return head, needed - wanted - head
