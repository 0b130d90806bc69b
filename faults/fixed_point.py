"""Another legal rounding: an integer multiplier and a shift scale sums of quantised products, as in 8-bit NPUs."""

from __future__ import annotations

import math
from typing import Any

import numpy
import numpy.typing

Array = numpy.typing.NDArray[Any]
_BITS = 31


def scaled(sums: Array, scale: Array | float, output_scale: float) -> Array:
    """Return sums * scale, rounded to multiples of output_scale by fixed-point arithmetic; floats (no scale) exactly.

    sums: integers in the last axis' channels. scale: one for all, or one for each channel.
    """
    if output_scale == 0.0:
        return sums * scale
    factors = numpy.broadcast_to(numpy.asarray(scale, dtype=numpy.float64) / output_scale, sums.shape[-1:])
    columns = [_multiplied(sums[..., index], float(factor)) for index, factor in enumerate(factors)]
    return numpy.stack(columns, axis=-1) * output_scale


def _multiplied(sums: Array, factor: float) -> Array:
    """Multiply integers by a factor given as a 31-bit mantissa and a power of two; half is rounded up."""
    mantissa, exponent = math.frexp(factor)
    multiplier = round(mantissa * 2**_BITS)
    # Two roundings, as in the usual integer kernels: after the high half of the product, then after the right shift.
    left, right = max(exponent, 0), max(-exponent, 0)
    high = ((sums.astype(numpy.int64).astype(object) << left) * multiplier + (1 << (_BITS - 1))) >> _BITS
    result = (high + (1 << right >> 1)) >> right
    return numpy.asarray(result).astype(numpy.float64)
