"""What the driver's processes hold, and whether it grows with every inference, model or client.

A single step is no leak: caches fill, pools of threads come to their size. What is called a leak has grown in every one
of several equal stretches of work, by so much that no bounded cache or pool explains it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import astuple

from npu_conformance.harness.subject.holdings import Holdings, descendants, holdings_of

_KIB_STEP = 4096
"""Private memory that each stretch must add: far above what an allocator's arenas come and go by."""
_FEWEST = 12
"""Things that all stretches together must add: more than a pool of threads has on a phone."""
_PER_ROUND = 4
"""One thing in so many rounds is a leak."""


@dataclass(frozen=True)
class Process:
    """One process. birth: in ticks since boot, so that a number that was given again is told apart."""

    number: int
    birth: int
    command: str


def held_by_family(process: int) -> Holdings | None:
    """What a process and its descendants hold together. None where it is gone, or cannot be looked into."""
    own = holdings_of(process)
    if own is None:
        return None
    others = [held for number in descendants(process) if (held := holdings_of(number)) is not None]
    return Holdings(*map(sum, zip(*map(astuple, [own, *others]), strict=True)))


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
    for name in Holdings.__struct_fields__:
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


def _read(path: str) -> str:
    """The text of a file of /proc; empty where the process has gone."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""
