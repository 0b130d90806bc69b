"""What the driver's processes hold, and whether it grows with every inference, model or client.

A single step is no leak: caches fill, pools of threads come to their size. What is called a leak has grown in every one
of several equal stretches of work, by so much that no bounded cache or pool explains it.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields

from npu_conformance.harness.subject.resources import private_kib, resources_of

_KIB_STEP = 4096
"""Private memory that each stretch must add: far above what an allocator's arenas come and go by."""
_FEWEST = 12
"""Things that all stretches together must add: more than a pool of threads has on a phone."""
_PER_ROUND = 4
"""One thing in so many rounds is a leak."""


@dataclass(frozen=True)
class Holdings:
    """What the processes of a driver hold together. memory: private, in KiB."""

    descriptors: int
    shared_mappings: int
    threads: int
    processes: int
    memory: int


COUNTS = tuple(field.name for field in fields(Holdings) if field.name != "memory")
"""What is counted; memory comes and goes by itself."""


@dataclass(frozen=True)
class Process:
    """One process. birth: in ticks since boot, so that a number that was given again is told apart."""

    number: int
    birth: int
    command: str


def holdings_of(process: int) -> Holdings | None:
    """What a process and its descendants hold. None where it is gone, or cannot be looked into."""
    if not process:
        return None
    family = [process, *descendants(process)]
    found = [resources_of(number) for number in family]
    if found[0] is None:
        return None
    there = [one for one in found if one is not None]
    return Holdings(
        sum(one.descriptors for one in there),
        sum(one.shared_mappings for one in there),
        sum(one.threads for one in there),
        len(there),
        sum(map(private_kib, family)),
    )


def descendants(process: int) -> list[int]:
    """The processes that a process has started, those that they have started, and so on."""
    found: list[int] = []
    waiting = [process]
    while waiting:
        children = _children(waiting.pop())
        found += children
        waiting += children
    return found


def identity_of(process: int) -> Process | None:
    """Who a process is. None where it is gone, or is a zombie, or cannot be looked into."""
    text = _read(f"/proc/{process}/stat")
    if not text:
        return None
    state, *rest = text.rpartition(")")[2].split()
    return None if state == "Z" else Process(process, int(rest[18]), _read(f"/proc/{process}/cmdline"))


def steady_growth(samples: Sequence[Holdings], rounds: Sequence[int]) -> dict[str, int]:
    """What has grown in every stretch between samples; by how much in all. rounds: of work in each stretch."""
    growth = {}
    for name in (field.name for field in fields(Holdings)):
        values = [getattr(sample, name) for sample in samples]
        steps = [after - before for before, after in itertools.pairwise(values)]
        if len(steps) > 1 and _is_leak(steps, rounds, is_memory=name == "memory"):
            growth[name] = sum(steps)
    return growth


def _is_leak(steps: Sequence[int], rounds: Sequence[int], *, is_memory: bool) -> bool:
    if is_memory:  # what fills a cache grows less and less
        return min(steps) >= _KIB_STEP and 2 * steps[-1] >= max(steps)
    total, work = sum(steps), sum(rounds)
    # In no stretch less than a third of what is usual for its work.
    is_steady = all(step > 0 and 3 * step * work >= total * done for step, done in zip(steps, rounds, strict=True))
    return is_steady and total >= max(_FEWEST, work // _PER_ROUND)


def told(growth: dict[str, int]) -> str:
    """The growth in words."""
    return ", ".join(
        f"{amount} KiB of private memory" if name == "memory" else f"{amount} {name.replace('_', ' ')}"
        for name, amount in growth.items()
    )


def _children(process: int) -> list[int]:
    """The children that any thread of a process has started; none where the kernel does not tell."""
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except OSError:
        return []
    return [int(child) for thread in threads for child in _read(f"/proc/{process}/task/{thread}/children").split()]


def _read(path: str) -> str:
    """The text of a file of /proc; empty where the process has gone."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""
