"""GROUPED_CONV_2D: CONV_2D in groups; the output channels of a group see that group's input channels only."""

import itertools

from npu_conformance.corpus.oracles._sums import Finish, centred
from npu_conformance.corpus.oracles._windows import Layout, arguments, fill
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def grouped_conv_2d(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Filter [output channels, height, width, input channels / groups], whatever the layout of the activations."""
    source, weights, bias = map(present, inputs[:3])
    given = arguments(inputs, 3, 1)
    layout = Layout(source.dimensions, given.nchw)
    batches, height, width, _ = layout.sizes
    out_channels, window_height, window_width, share = weights.dimensions
    rows, columns = (axis.windows for axis in given.axes(height, width, window_height, window_width))
    outputs_of_group = out_channels // given.middle[0]
    finish = Finish(source, weights, outputs[0], given.activation)
    values, factors, start = centred(source), centred(weights), centred(bias)

    def element(batch: int, row: int, column: int, channel: int) -> int | float:
        first = channel // outputs_of_group * share
        products = [start[channel]]
        taps = itertools.product(rows[row], columns[column], range(share))
        for (tap_row, in_row), (tap_column, in_column), in_channel in taps:
            tap = (channel * window_height + tap_row) * window_width + tap_column
            value = values[layout.flat(batch, in_row, in_column, first + in_channel)]
            products.append(value * factors[tap * share + in_channel])
        return finish.store(products, channel)

    return [fill(batches, len(rows), len(columns), out_channels, given.nchw, element)]
