"""The same sums for realistic sizes: float64, exact because the data of such vectors is made for it.

Integers of 8 bits and multiples of a power of two stay exact in 53 bits. The convolution goes tap by tap of the
filter (shift, multiply, add), not by gathering windows as kernels do.
"""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy

from npu_conformance.corpus.oracles._sums import Exact
from npu_conformance.corpus.oracles._windows import Axis, Layout
from npu_conformance.corpus.oracles.base import OracleOperand

_SLOW_LIMIT = 20_000
_Array = numpy.ndarray[Any, numpy.dtype[numpy.float64]]


def is_large(source: OracleOperand, weights: OracleOperand) -> bool:
    """True where plain loops over exact fractions would take seconds."""
    return prod(source.dimensions) > _SLOW_LIMIT or prod(weights.dimensions) > _SLOW_LIMIT


class Convolution:
    """The sums of CONV_2D without the bias."""

    def __init__(
        self, source: OracleOperand, weights: OracleOperand, layout: Layout, vertical: Axis, horizontal: Axis
    ) -> None:
        values = _centred(source)
        if layout.nchw:
            values = values.transpose(0, 2, 3, 1)
        spatial = ((vertical.head, vertical.tail), (horizontal.head, horizontal.tail))
        values = numpy.pad(values, ((0, 0), *spatial, (0, 0)))
        filters = _centred(weights)
        self._sums = numpy.zeros((values.shape[0], vertical.count, horizontal.count, filters.shape[0]))
        for tap_row in range(vertical.window):
            rows = values[:, _places(vertical, tap_row)]
            for tap_column in range(horizontal.window):
                self._sums += rows[:, :, _places(horizontal, tap_column)] @ filters[:, tap_row, tap_column].T

    def at(self, batch: int, row: int, column: int, channel: int) -> list[Exact]:
        """All products for one output element, already added up."""
        return [float(self._sums[batch, row, column, channel])]


def products(source: OracleOperand, weights: OracleOperand) -> Callable[[int, int], list[Exact]]:
    """All products of FULLY_CONNECTED for a row and a unit, already added up, without the bias."""
    filters = _centred(weights)
    sums = _centred(source).reshape(-1, filters.shape[1]) @ filters.T
    return lambda row, unit: [float(sums[row, unit])]


def _places(axis: Axis, tap: int) -> slice:
    start = tap * axis.dilation
    return slice(start, start + (axis.count - 1) * axis.stride + 1, axis.stride)


def _centred(operand: OracleOperand) -> _Array:
    return numpy.array(operand.raw, dtype=numpy.float64).reshape(operand.dimensions) - operand.zero_point
