"""Compares an output with what was expected, by the public floor.

Special values: an expected NaN wants a NaN of any payload; an expected infinity wants the same infinity; a NaN or an
infinity where a finite value is expected fails. Zeros are equal whatever their sign, and subnormals may be flushed:
both are matters of quality (harness.judge.quality). Booleans compare as true or false.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec

from npu_conformance.harness.judge.tolerance import (
    BOOLS,
    ORDINARY,
    Circumstances,
    Floor,
    Tolerance,
    ToleranceOfWaiver,
    floor,
)
from npu_conformance.harness.judge.verdicts import Failed

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

AospVerdict = Literal["yes", "no", "unknown"]
_SHOWN = 8
BEYOND_WAIVER = "; so even with a waiver's tolerance"
"""What the message of a failure ends in that a waiver would excuse, were its tolerance larger."""


class RunningCase(Protocol):
    """What a comparison needs of the case it is made for."""

    def waived_tolerances(self) -> tuple[ToleranceOfWaiver, ...]:
        """How far waivers let the outputs be off; empty without such a waiver."""
        ...

    def excuse(self, failure: Failed) -> None:
        """Note a failure that the tolerance of a waiver excuses, so that the case can go on and end with it."""
        ...

    def warn_quality(self, message: str) -> None:
        """Say that a result is legal but worse than it could be."""
        ...


class Comparison(msgspec.Struct, frozen=True):
    """Outcome for one output.

    failing: elements outside the floor. message: what the failure says, empty where there is none.

    warning: elements inside the floor that are outside the strict rule. aosp_fails: whether AOSP's VTS fails here too.
    """

    elements: int
    failing: int
    message: str = ""
    warning: str = ""
    aosp_fails: AospVerdict = "no"
    expected: str = ""
    found: str = ""


def check_output(
    context: RunningCase,
    what: str,
    actual: Array,
    expected: Array,
    operand_type: int,
    circumstances: Circumstances = ORDINARY,
    about: tuple[str, ...] = (),
) -> None:
    """Compare an output of a running case: Failed beyond the floor, a quality warning beyond the strict rule.

    about: the requirements that a wrong output breaks. What a waiver's tolerance covers is a failure that it excuses:
    the case goes on, so that anything worse is seen.
    """
    rules = floor(operand_type, circumstances)
    comparison = compare(what, actual, expected, operand_type, rules)
    if comparison.failing:
        failure = _failure(comparison, about)
        waived = context.waived_tolerances()
        if not waived:
            raise failure
        floors = [rules.widened(one, operand_type) for one in waived]
        compared = (compare(what, actual, expected, operand_type, widened) for widened in floors)
        nearest = min(compared, key=lambda one: one.failing)
        if nearest.failing:
            raise _failure(nearest, about, BEYOND_WAIVER)
        context.excuse(failure)
    if comparison.warning:
        context.warn_quality(comparison.warning)


def _failure(comparison: Comparison, about: tuple[str, ...], remark: str = "") -> Failed:
    failure = Failed(comparison.message + remark, comparison.expected, comparison.found)
    failure.about = about
    return failure


def compare(what: str, actual: Array, expected: Array, operand_type: int, rules: Floor) -> Comparison:
    """Compare arrays of stored values of equal shape, element by element; none is left out (NNHAL-ACCURACY-008)."""
    if actual.shape != expected.shape:
        return _wrong_shape(what, actual, expected, rules)
    if operand_type in BOOLS:
        return _compare_values(what, actual != 0, expected != 0, rules, _odd_bools(what, actual))
    return _compare_values(what, actual, expected, rules, "")


def _compare_values(what: str, actual: Array, expected: Array, rules: Floor, warning: str) -> Comparison:
    bad = outside(actual, expected, rules.judged)
    failing = int(bad.sum())
    if failing:
        aosp = _aosp_verdict(actual, expected, rules.aosp)
        message = _message(what, actual, expected, bad, rules.judged)
        message += _in_aosp(rules, aosp)
        return Comparison(actual.size, failing, message, warning, aosp, *_told(expected, actual, bad))
    if rules.strict != rules.judged:
        coarse = outside(actual, expected, rules.strict)
        if coarse.any():
            warning = _message(what, actual, expected, coarse, rules.strict) + "; inside the public floor"
    return Comparison(actual.size, 0, warning=warning)


def outside(actual: Array, expected: Array, tolerance: Tolerance) -> Array:
    """Return a mask of the elements that are outside a tolerance, special values by the rules above."""
    import numpy as np

    if (actual == expected).all():
        return np.zeros(expected.shape, bool)
    wanted, found = expected.astype(np.float64), actual.astype(np.float64)
    finite = np.isfinite(wanted)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(wanted - found) <= tolerance.atol + tolerance.rtol * np.abs(wanted)
    same_special = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    mask: Array = ~np.where(finite, near, same_special)
    return mask


def _aosp_verdict(actual: Array, expected: Array, tolerance: Tolerance | None) -> AospVerdict:
    """Say whether AOSP's VTS fails too: unknown for types it refuses, and for values it has no rule for."""
    import numpy as np

    if tolerance is None:
        return "unknown"
    finite = np.isfinite(expected.astype(np.float64))
    if bool((outside(actual, expected, tolerance) & finite).any()):
        return "yes"
    return "no" if bool(finite.all()) else "unknown"


def _message(what: str, actual: Array, expected: Array, bad: Array, tolerance: Tolerance) -> str:
    import numpy as np

    positions = np.argwhere(bad)
    first = tuple(int(index) for index in positions[0])
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(expected.astype(np.float64) - actual.astype(np.float64))
    ranked = np.where(bad, np.nan_to_num(difference, nan=np.inf, posinf=np.inf), -1.0)
    worst = tuple(int(index) for index in np.unravel_index(int(ranked.argmax()), ranked.shape))
    text = f"{what}: {len(positions)} of {actual.size} elements outside {tolerance}; "
    text += _element("element", first, actual, expected, difference, tolerance)
    if worst != first:
        text += "; " + _element("worst", worst, actual, expected, difference, tolerance)
    return text


def _element(
    label: str, index: tuple[int, ...], actual: Array, expected: Array, difference: Array, tolerance: Tolerance
) -> str:
    wanted = float(expected[index])
    told = f"{label} {list(index)}: expected {wanted:.9g}, actual {float(actual[index]):.9g}"
    if not math.isfinite(wanted):
        return f"{told}: an infinity is wanted as it is, and a NaN as a NaN"
    return f"{told}, difference {float(difference[index]):.4g}, tolerance {tolerance.told_at(wanted)}"


def _told(expected: Array, actual: Array, bad: Array) -> tuple[str, str]:
    """What was expected and found, of the wrong elements alone where others are right."""
    count = int(bad.sum())
    where = "" if count == actual.size else f" (of {'the wrong element' if count == 1 else f'{count} wrong elements'})"
    return _values(expected[bad]) + where, _values(actual[bad]) + where


def _values(values: Array) -> str:
    shown = ", ".join(f"{float(value):.9g}" for value in values[:_SHOWN])
    return f"{shown}, ..." if values.size > _SHOWN else shown


def _in_aosp(rules: Floor, verdict: AospVerdict) -> str:
    return f"; AOSP's VTS would fail too: {verdict}" if rules.in_aosp else ""


def _wrong_shape(what: str, actual: Array, expected: Array, rules: Floor) -> Comparison:
    wanted, found = list(expected.shape), list(actual.shape)
    message = f"{what}: expected shape {wanted}, found {found}{_in_aosp(rules, 'yes')}"
    count = max(int(expected.size), 1)
    return Comparison(int(expected.size), count, message, "", "yes", str(wanted), str(found))


def _odd_bools(what: str, actual: Array) -> str:
    odd = int((actual.astype("int64") & ~1 != 0).sum())
    return f"{what}: {odd} of {actual.size} booleans are stored as something other than 0 and 1" if odd else ""
