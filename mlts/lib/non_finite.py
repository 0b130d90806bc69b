"""Elements that are no finite number: where they are, and what they are, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

Place = tuple[int, ...]


def first_instead(found: Array, expected: Array) -> Place | None:
    """Where the first one is that is infinite or no number instead of a finite one; None where there is none."""
    return _first(~numpy.isfinite(found) & numpy.isfinite(expected))


def first_other(found: Array, expected: Array) -> Place | None:
    """Where the first element is that is not finite on either side and not the same on both."""
    is_same = (found == expected) | (numpy.isnan(found) & numpy.isnan(expected))
    return _first(~(is_same | (numpy.isfinite(found) & numpy.isfinite(expected))))


def _first(mask: Array) -> Place | None:
    places = numpy.argwhere(mask)
    return tuple(map(int, places[0])) if len(places) else None


def element(name: str, place: Place) -> str:
    """An element of an output, such as `scores[0, 9]`."""
    return f"{name}[{', '.join(map(str, place))}]"


def spelt(value: float) -> str:
    """A value, with infinities and NaN by their names."""
    return "NaN" if math.isnan(value) else f"{value:g}"
