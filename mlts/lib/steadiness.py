"""Whether answers to the same input stay the same, whatever was executed in between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from npu_conformance.harness.judge import checks
from npu_conformance.mlts.lib import non_finite

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

_RELATIVE = 2.0**-7
"""Of the largest value of an output: a device may sum in another order from time to time, even in float16."""
_STEPS = 1
"""Quantised values may differ by so many steps."""
_DETERMINISTIC = "NNHAL-EXECUTE-018"


class Steadiness:
    """The first answer to each item, which later ones have to repeat."""

    def __init__(self) -> None:
        self._first: dict[int, Mapping[str, Array]] = {}

    def check(self, item: int, outputs: Mapping[str, Array], rule: str = _DETERMINISTIC) -> None:
        """Failed where an output is not what it was for the same item. rule: the requirement that this breaks."""
        first = self._first.setdefault(item, outputs)
        if first is outputs:
            return
        with checks.about(rule):
            for name, found in outputs.items():
                _check(f"of item {item}, executed again", name, found, first[name])


def _check(which: str, name: str, found: Array, first: Array) -> None:
    """What is not finite has to be the same; other values may differ by what is allowed."""
    if (place := non_finite.first_other(found, first)) is not None:
        expected, value = (non_finite.spelt(float(array[place])) for array in (first, found))
        checks.fail(f"output {non_finite.element(name, place)} {which}", f"{expected} as the first time", value)
    distance, allowed = _distance(found, first)
    checks.that(
        distance <= allowed,
        f"output {name} {which}: expected at most {allowed:g} from the first time, found {distance:g}",
    )


def _distance(found: Array, first: Array) -> tuple[float, float]:
    """The largest difference of what is finite, and how large it may be."""
    import numpy

    if found.dtype.kind != "f":
        return float(numpy.abs(found.astype(numpy.int64) - first.astype(numpy.int64)).max(initial=0)), _STEPS
    is_finite = numpy.isfinite(first)
    finite = first[is_finite].astype(numpy.float64)
    distance = numpy.abs(found[is_finite] - finite).max(initial=0.0)
    return float(distance), _RELATIVE * float(numpy.abs(finite).max(initial=0.0))
