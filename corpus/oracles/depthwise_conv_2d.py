"""DEPTHWISE_CONV_2D: output channel c * multiplier + m sees input channel c only."""

from npu_conformance.corpus.oracles._sums import Finish, centred
from npu_conformance.corpus.oracles._windows import Layout, arguments, fill
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def depthwise_conv_2d(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Filter [1, height, width, output channels], whatever the layout of the activations.

    Hazard: nchw-activations-only.
    """
    source, weights, bias = map(present, inputs[:3])
    given = arguments(inputs, 3, 1)
    layout = Layout(source.dimensions, given.nchw)
    batches, height, width, _ = layout.sizes
    _, window_height, window_width, channels = weights.dimensions
    rows, columns = (axis.windows for axis in given.axes(height, width, window_height, window_width))
    finish = Finish(source, weights, outputs[0], given.activation)
    values, factors, start = centred(source), centred(weights), centred(bias)

    def element(batch: int, row: int, column: int, channel: int) -> int | float:
        in_channel = channel // given.middle[0]
        products = [start[channel]]
        for tap_row, in_row in rows[row]:
            for tap_column, in_column in columns[column]:
                factor = factors[(tap_row * window_width + tap_column) * channels + channel]
                products.append(values[layout.flat(batch, in_row, in_column, in_channel)] * factor)
        return finish.store(products, channel)

    return [fill(batches, len(rows), len(columns), channels, given.nchw, element)]
