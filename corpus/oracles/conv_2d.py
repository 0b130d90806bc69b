"""CONV_2D: every output element is its channel's bias plus the products over the window, padding left out."""

from npu_conformance.corpus.oracles import _large_sums
from npu_conformance.corpus.oracles._sums import Exact, Finish, centred
from npu_conformance.corpus.oracles._windows import Axis, Layout, arguments, fill
from npu_conformance.corpus.oracles.base import Inputs, OracleOperand, Outputs, Result, present


def conv_2d(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Filter [output channels, height, width, input channels], whatever the layout of the activations.

    Hazard: nchw-activations-only.
    """
    source, weights, bias = map(present, inputs[:3])
    given = arguments(inputs, 3, 0)
    layout = Layout(source.dimensions, given.nchw)
    batches, height, width, _ = layout.sizes
    vertical, horizontal = given.axes(height, width, *weights.dimensions[1:3])
    finish = Finish(source, weights, outputs[0], given.activation)
    start = centred(bias)
    products_of = _large_sums.Convolution if _large_sums.is_large(source, weights) else _Convolution
    products = products_of(source, weights, layout, vertical, horizontal)

    def element(batch: int, row: int, column: int, channel: int) -> int | float:
        return finish.store([start[channel], *products.at(batch, row, column, channel)], channel)

    return [fill(batches, vertical.count, horizontal.count, weights.dimensions[0], given.nchw, element)]


class _Convolution:
    """The products of which an output element is the sum, by the definition."""

    def __init__(
        self, source: OracleOperand, weights: OracleOperand, layout: Layout, vertical: Axis, horizontal: Axis
    ) -> None:
        self._source, self._weights, self._layout = centred(source), centred(weights), layout
        self._rows, self._columns = vertical.windows, horizontal.windows
        _, self._window_height, self._window_width, self._channels = weights.dimensions

    def at(self, batch: int, row: int, column: int, channel: int) -> list[Exact]:
        """The products for one output element."""
        products = []
        for tap_row, in_row in self._rows[row]:
            for tap_column, in_column in self._columns[column]:
                tap = (channel * self._window_height + tap_row) * self._window_width + tap_column
                for in_channel in range(self._channels):
                    factor = self._weights[tap * self._channels + in_channel]
                    products.append(self._source[self._layout.flat(batch, in_row, in_column, in_channel)] * factor)
        return products
