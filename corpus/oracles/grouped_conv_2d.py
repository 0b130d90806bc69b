"""GROUPED_CONV_2D: CONV_2D in groups; the output channels of a group see that group's input channels only."""

import itertools

from npu_conformance.corpus.oracles._sums import Exact, Finish, centred
from npu_conformance.corpus.oracles._windows import Layout, arguments, fill
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def grouped_conv_2d(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Filter [output channels, height, width, input channels / groups], whatever the layout of the activations."""
    source, weights, bias = map(present, inputs[:3])
    given = arguments(inputs, 3, 1)
    layout = Layout(source.dimensions, given.nchw)
    batches, height, width, _ = layout.sizes
    out_channels, window_height, window_width, share = weights.dimensions
    vertical, horizontal = given.axes(height, width, window_height, window_width)
    outputs_of_group = out_channels // given.middle[0]
    finish = Finish(source, weights, outputs[0], given.activation)
    values, factors, start = centred(source), centred(weights), centred(bias)

    def element(batch: int, row: int, column: int, channel: int) -> int | float:
        first = channel // outputs_of_group * share
        total: Exact = start[channel]
        taps = itertools.product(vertical.taps(row), horizontal.taps(column), range(share))
        for (tap_row, in_row), (tap_column, in_column), in_channel in taps:
            tap = (channel * window_height + tap_row) * window_width + tap_column
            value = values[layout.flat(batch, in_row, in_column, first + in_channel)]
            total += value * factors[tap * share + in_channel]
        return finish.store(total, channel)

    return [fill(batches, vertical.count, horizontal.count, out_channels, given.nchw, element)]
