"""Shards: disjoint parts of the selected cases, equal on every machine, balanced by number or by measured seconds."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.seeds import stable_hash
from npu_conformance.specs.documents import DocumentError

_LONGEST = 40
"""Characters of a shard. Python has a limit for the digits of a number, too, and another exception for it."""
_MOST = 100_000
"""Parts: more than there are cases, and few enough for a list of each."""


def parse_shard(text: str) -> tuple[int, int]:
    """Read `I/N`, 1 <= I <= N <= _MOST; raises DocumentError."""
    index, separator, count = text.partition("/")
    are_numbers = index.isdecimal() and count.isdecimal() and len(text) <= _LONGEST
    most = f" <= {_MOST}" if are_numbers and int(count) > _MOST else ""
    if separator and are_numbers and 1 <= int(index) <= int(count) <= _MOST:
        return int(index), int(count)
    raise DocumentError("--shard", "", f"expected I/N with 1 <= I <= N{most}, found {text!r}")


def partition(cases: Sequence[Case], count: int, seconds: Mapping[str, float] | None = None) -> list[list[Case]]:
    """Return `count` parts, each in the order of the cases.

    Without seconds, cases are dealt in order of a hash of their ids. With seconds of an earlier run, the longest goes
    first, each to the part that has least to do; a case that was not measured counts as an average one.
    """
    known = [seconds[case.id] for case in cases if case.id in seconds] if seconds else []
    if not seconds or not known:
        dealt = sorted(cases, key=lambda case: stable_hash(case.id))
        owner = {case.id: position % count for position, case in enumerate(dealt)}
    else:
        owner = _by_seconds(cases, count, seconds, sum(known) / len(known))
    parts: list[list[Case]] = [[] for _ in range(count)]
    for case in cases:
        parts[owner[case.id]].append(case)
    return parts


def _by_seconds(cases: Sequence[Case], count: int, seconds: Mapping[str, float], average: float) -> dict[str, int]:
    cost = {case.id: seconds.get(case.id, average) for case in cases}
    loads = [(0.0, part) for part in range(count)]  # a heap: the least first, of equal ones the first part
    owner = {}
    for name in sorted(cost, key=lambda name: (-cost[name], stable_hash(name))):
        load, owner[name] = loads[0]
        heapq.heapreplace(loads, (load + cost[name], owner[name]))
    return owner
