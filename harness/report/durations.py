"""How long the same cases took in several runs: a driver that became slow is told, though each verdict is as before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from npu_conformance.harness.report.templating import figure
from npu_conformance.specs.documents.summary import Results

_SHOWN = 5
_FACTOR, _SECONDS = 2.0, 1.0
"""From when on a change is told: a machine that does other things, too, is the cause of less."""


@dataclass(frozen=True)
class Durations:
    """Seconds that the cases took which are in all runs, run by run; and of each case in the last two."""

    seconds: tuple[float, ...]
    cases: tuple[tuple[str, float, float], ...]

    @property
    def is_notable(self) -> bool:
        """True where the last run took twice as long as the one before it, or half, and that is a second or more."""
        before, now = self.seconds[-2:]
        return abs(now - before) >= _SECONDS and (now >= _FACTOR * before or before >= _FACTOR * now)

    @property
    def grown(self) -> tuple[tuple[str, float, float], ...]:
        """The cases that take the most seconds more in the last run, with those of the run before and of that one."""
        longer = [case for case in self.cases if case[2] >= _FACTOR * case[1]]
        return tuple(sorted(longer, key=lambda case: case[1] - case[2])[:_SHOWN])

    def __str__(self) -> str:
        before, now = self.seconds[-2:]
        times = f" ({figure(now / before)} times)" if before else ""
        return f"the same cases took {figure(now)} s, {figure(before)} s before{times}"


def durations(runs: Sequence[Results]) -> Durations | None:
    """The durations of two runs or more; None where a run that an earlier version made has none."""
    by_run = [{case.case: case.seconds for case in run.cases} for run in runs]
    shared = [name for name in by_run[-1] if all(name in seconds for seconds in by_run)]
    totals = tuple(sum(seconds[name] for name in shared) for seconds in by_run)
    if not all(totals):
        return None
    return Durations(totals, tuple((name, by_run[-2][name], by_run[-1][name]) for name in shared))


def lines(found: Durations | None) -> Iterator[str]:
    """What is told of it on a terminal: nothing where it is as before."""
    if found is None or not found.is_notable:
        return
    yield str(found)
    if found.seconds[-1] > found.seconds[-2]:
        yield from (f"  {name}: {figure(before)} -> {figure(now)} s" for name, before, now in found.grown)
