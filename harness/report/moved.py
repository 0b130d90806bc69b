"""What was measured in several runs, and which of it moved in the last one by more than chance: the furthest first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from npu_conformance.harness.report.templating import figure
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.results import Measurement
from npu_conformance.specs.documents.summary import Results

_OF_INTERVALS = 1.5
"""How many times as much the nearer ends of two intervals differ, at least: what a machine that does other things does
to the whole of a run, no interval shows."""
_OF_ONE_TIME, _OF_VALUES, _OF_SIZES = 4.0, 2.0, 1.1
"""The same of a time that was taken once; of other values without an interval; of sizes, which no chance is in."""
_OF_SHARES = 0.01
"""By how much a share differs, at least (ML-REP-002)."""
_MOST = 1e6
"""What comes from 0, or goes there, moves by this factor."""
_SHOWN = 20


@dataclass(frozen=True)
class ComparedMeasurement:
    """One thing that was measured in several runs, run by run; None where a run did not measure it."""

    subject: str
    name: str
    unit: str
    beside: str
    case: str
    measured: tuple[Measurement | None, ...]

    def ratio(self, run: int) -> float | None:
        """The value of a run as a ratio to that of the first run that has one; None for that run itself."""
        first = next(number for number, each in enumerate(self.measured) if each is not None)
        base, now = self.measured[first], self.measured[run]
        known = run != first and base is not None and now is not None and base.value
        return now.value / base.value if known and now and base else None

    @property
    def what(self) -> str:
        """What was measured, in words."""
        device = f" on {self.beside}" if self.beside else ""
        return f"{self.name.replace('_', ' ')} of {self.subject}{device}"

    @property
    def movement(self) -> float:
        """By which factor the last run is away from the one before it, less what chance explains; 1 for nothing."""
        before, now = [None, *(each for each in self.measured[:-1] if each is not None)][-1], self.measured[-1]
        return 1.0 if before is None or now is None else _movement(before, now)

    def __str__(self) -> str:
        told = []
        for number, each in enumerate(self.measured):
            ratio = self.ratio(number)
            words = figure(each.value) if each else "-"
            told.append(words + (f" (x{figure(ratio)})" if ratio is not None else ""))
        return f"{self.what}, {self.unit}: {' -> '.join(told)}"


def measurements(runs: Sequence[Results]) -> list[ComparedMeasurement]:
    """What runs measured, in the cases' own order; a measurement is the same where all its names are."""
    by_run = [
        {
            (case.case, each.subject, each.name, each.unit, each.beside): each
            for case in run.cases
            for each in case.measurements
        }
        for run in runs
    ]
    found = []
    for key in dict.fromkeys(key for measured in by_run for key in measured):
        case, subject, name, unit, beside = key
        values = tuple(measured.get(key) for measured in by_run)
        found.append(ComparedMeasurement(subject, name, unit, beside, case, values))
    return found


def moved(compared: Iterable[ComparedMeasurement]) -> list[ComparedMeasurement]:
    """Those of the implementation under test that moved in the last run, the furthest first."""
    own = [each for each in compared if not each.beside and each.movement > 1.0]
    return sorted(own, key=lambda each: -each.movement)


def lines(compared: Sequence[ComparedMeasurement], where: str) -> Iterator[str]:
    """What is told of it on a terminal, beginning with what moved. where: all of it is, in words."""
    told = moved(compared)
    if told:
        yield "figures that moved, the furthest first, run by run:"
        yield from (f"  {each}" for each in told[:_SHOWN])
    if len(told) > _SHOWN:
        yield f"  ... and {len(told) - _SHOWN} more; {where}"
    if others := len(compared) - len(told):
        beside = ", or are of the implementation beside it" if any(each.beside for each in compared) else ""
        yield f"{counted(others, 'figure')} did not move by more than chance{beside}; {where}"


def _movement(before: Measurement, now: Measurement) -> float:
    if now.unit == "fraction" or now.name == "cosine":
        return _of_shares(before, now)
    if now.unit == "dB":
        factor = _apart(10 ** (before.value / 10), 10 ** (now.value / 10))
        return factor if factor >= _OF_VALUES else 1.0
    intervals = _interval(before), _interval(now)
    if intervals[0] and intervals[1]:
        return _of_intervals(*intervals[0], *intervals[1])
    factor = _apart(abs(before.value), abs(now.value))
    return factor if factor >= _least(now) else 1.0


def _least(now: Measurement) -> float:
    if now.unit == "bytes":
        return _OF_SIZES
    return _OF_ONE_TIME if now.unit == "ms" and now.count == 1 else _OF_VALUES


def _interval(of: Measurement) -> tuple[float, float] | None:
    return None if of.low is None or of.high is None else (of.low, of.high)


def _of_intervals(low: float, high: float, now_low: float, now_high: float) -> float:
    """By their ends that are nearer to each other."""
    if now_low > high:
        factor = _apart(high, now_low)
    elif now_high < low:
        factor = _apart(low, now_high)
    else:
        return 1.0
    return factor if factor >= _OF_INTERVALS else 1.0


def _of_shares(before: Measurement, now: Measurement) -> float:
    """By odds: the step from 98 to 99 of 100 is as large as that from 1 to 2. The data are the same in both runs."""
    if abs(now.value - before.value) < _OF_SHARES:
        return 1.0
    return _apart(_odds(before), _odds(now))


def _odds(share: Measurement) -> float:
    count = max(share.count, 1)
    hits = min(max(share.value, 0.0), 1.0) * count
    return (hits + 0.5) / (count - hits + 0.5)


def _apart(first: float, second: float) -> float:
    """How many times as large the larger one is; what is not finite is as far away as 0."""
    low, high = sorted((first, second))
    if not (math.isfinite(low) and math.isfinite(high)) or low <= 0:
        return 1.0 if low == high else _MOST
    return min(high / low, _MOST)
