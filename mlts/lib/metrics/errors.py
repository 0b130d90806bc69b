"""How far outputs are from what is expected: mean squared and largest error, a histogram in steps of the type.

Values that are not finite: equal ones (the same infinity, both no number) are no error; others are an infinite one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

BOUNDS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)
"""The most steps of each bucket of a histogram; one more bucket holds the rest."""
_ORDERED = {2: numpy.int16, 4: numpy.int32}
"""The integers that have the bits of a float of so many bytes."""


@dataclass(frozen=True)
class LargestError:
    """The error of the largest magnitude, with its sign: above 0 where too much was found. index: where it is."""

    value: float
    index: tuple[int, ...]
    found: float
    expected: float


@dataclass(frozen=True)
class ErrorHistogram:
    """Errors in steps of the type: units in the last place (`ULP`) of floats, stored integers (`LSB`) of others.

    counts: elements by magnitude, one for each of BOUNDS and one for what is beyond. bias: the mean error with its
    sign, of the elements that are not `broken`; those are not finite where they ought to be, or the other way round.
    """

    unit: str
    counts: tuple[int, ...]
    bias: float
    broken: int


def errors(found: Array, expected: Array) -> Array:
    """Found less expected, float64, element by element; integers are compared exactly."""
    _check(found, expected)
    first, second = found.astype(numpy.float64), expected.astype(numpy.float64)
    same = (first == second) | (numpy.isnan(first) & numpy.isnan(second))
    with numpy.errstate(invalid="ignore"):
        difference = numpy.where(same, 0.0, first - second)
    return numpy.where(numpy.isnan(difference), numpy.inf, difference)


def mean_squared_error(found: Array, expected: Array) -> float:
    """The mean of the squared errors."""
    return float(numpy.square(errors(found, expected)).mean())


def largest_error(found: Array, expected: Array) -> LargestError:
    """The error of the largest magnitude, of either sign (ML-ACC-005: MLTS looks at positive ones only)."""
    difference = errors(found, expected)
    index = tuple(map(int, numpy.unravel_index(numpy.abs(difference).argmax(), difference.shape)))
    return LargestError(float(difference[index]), index, float(found[index]), float(expected[index]))


def error_histogram(found: Array, expected: Array) -> ErrorHistogram:
    """Errors in steps of the type that both arrays have; raises ValueError where they have two types."""
    _check(found, expected)
    if found.dtype != expected.dtype:
        raise ValueError(f"found {found.dtype}, expected {expected.dtype}")
    is_float = found.dtype.kind == "f"
    broken = _broken(found, expected) if is_float else numpy.zeros(found.shape, bool)
    steps = numpy.where(broken, 0, _ordered(found) - _ordered(expected) if is_float else _integers(found, expected))
    # Two infinities, or two that are no number: equal, whatever their bits say.
    steps = numpy.where(~numpy.isfinite(expected) & ~broken, 0, steps) if is_float else steps
    magnitudes = numpy.abs(steps[~broken])
    places = numpy.searchsorted(BOUNDS, magnitudes)
    counts = numpy.bincount(places, minlength=len(BOUNDS) + 1)
    bias = float(steps[~broken].astype(numpy.float64).mean()) if magnitudes.size else 0.0
    return ErrorHistogram("ULP" if is_float else "LSB", tuple(map(int, counts)), bias, int(broken.sum()))


def _broken(found: Array, expected: Array) -> Array:
    mask: Array = numpy.isinf(errors(found, expected))
    return mask


def _integers(found: Array, expected: Array) -> Array:
    return found.astype(numpy.int64) - expected.astype(numpy.int64)


def _ordered(values: Array) -> Array:
    """Floats as integers in the same order, neighbours one apart; both zeros are 0. Widened, so that none overflows."""
    bits = numpy.ascontiguousarray(values).view(_ORDERED[values.dtype.itemsize])
    magnitudes = (bits & numpy.iinfo(bits.dtype).max).astype(numpy.int64)
    return numpy.where(bits < 0, -magnitudes, magnitudes)


def _check(found: Array, expected: Array) -> None:
    if found.shape != expected.shape or not found.size:
        raise ValueError(f"expected two arrays of one shape with elements, found {found.shape} and {expected.shape}")
