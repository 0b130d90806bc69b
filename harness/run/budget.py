"""--budget: orders cases by worth. Those that add evidence come first, so that a run cut short has covered the most."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.seeds import stable_hash
from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.documents import DocumentError

_Evidence = Callable[[Case], set[Any]]
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?)([smh])")


def parse_budget(text: str) -> float:
    """Read the time of --budget as seconds; raises DocumentError."""
    try:
        return parse_time(text)
    except ValueError as error:
        raise DocumentError("--budget", "", str(error)) from None


def parse_time(text: str) -> float:
    """Read `90s`, `15m` or `2h` as seconds; raises ValueError, also where the unit was forgotten."""
    match = _TIME.fullmatch(text)
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if not 0 < seconds < math.inf:
        raise ValueError(f"expected a time such as 90s, 15m or 2h, found {one_line(text)!r}")
    return seconds


def by_worth(cases: Sequence[Case]) -> list[Case]:
    """Return the cases, the most worthwhile first.

    First those that bring a requirement, then an operation with its types, that no case before them has; within each
    turn the shallower scope, then by a hash of the id, so that no area is always last.
    """
    waiting = sorted(cases, key=lambda case: (case.scope.depth, stable_hash(case.id)))
    first, rest = _fresh(waiting, lambda case: set(case.requirements))
    second, rest = _fresh(rest, lambda case: {(name, case.types) for name in case.operations})
    return [*first, *second, *rest]


def _fresh(cases: Iterable[Case], evidence: _Evidence) -> tuple[list[Case], list[Case]]:
    seen: set[object] = set()
    fresh: list[Case] = []
    stale: list[Case] = []
    for case in cases:
        news = evidence(case) - seen
        (fresh if news else stale).append(case)
        seen |= news
    return fresh, stale
