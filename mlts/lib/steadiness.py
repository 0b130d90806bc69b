"""Whether answers to the same input stay the same, whatever was executed in between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from npu_conformance.harness.judge import checks

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

_RELATIVE = 2.0**-7
"""Of the largest value of an output: a device may sum in another order from time to time, even in float16."""
_STEPS = 1
"""By which quantised values may differ."""


class Steadiness:
    """The first answer to each item, which later ones have to repeat."""

    def __init__(self) -> None:
        self._first: dict[int, Mapping[str, Array]] = {}

    def check(self, item: int, outputs: Mapping[str, Array]) -> None:
        """Failed where an output is not what it was for the same item."""
        first = self._first.setdefault(item, outputs)
        if first is outputs:
            return
        for name, found in outputs.items():
            distance, allowed = _distance(found, first[name])
            with checks.about("NNHAL-PREPARE-014"):
                checks.that(
                    distance <= allowed,
                    f"output {name} of item {item}, executed again: expected at most {allowed:g} from the first time, "
                    f"found {distance:g}",
                )


def _distance(found: Array, first: Array) -> tuple[float, float]:
    """The largest difference, and how large it may be. What is not finite has to be the same."""
    import numpy

    if found.dtype.kind != "f":
        return float(numpy.abs(found.astype(numpy.int64) - first.astype(numpy.int64)).max(initial=0)), _STEPS
    is_finite = numpy.isfinite(first)
    finite = first[is_finite].astype(numpy.float64)
    allowed = _RELATIVE * float(numpy.abs(finite).max(initial=0.0))
    is_same = numpy.array_equal(found[~is_finite], first[~is_finite], equal_nan=True)
    if not is_same or not numpy.isfinite(found[is_finite]).all():
        return float("inf"), allowed
    return float(numpy.abs(found[is_finite] - finite).max(initial=0.0)), allowed
