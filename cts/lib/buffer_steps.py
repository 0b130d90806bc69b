"""The steps of random scenarios of buffers, and what each draws from."""

from __future__ import annotations

import msgspec

from npu_conformance.cts.lib.buffer_fixture import LARGEST_PAGE, PAGE, READ_WRITE
from npu_conformance.specs.npu.buffers import Protection

IDS = (0, 1, -1, 7, 2**16 + 7, 2**31 - 1, -(2**31))
SIZES = (1, 100, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE, 2 * LARGEST_PAGE + 100)
PROTECTIONS = (READ_WRITE, READ_WRITE, READ_WRITE, Protection.READ, Protection.WRITE, Protection.NONE)
PRIORITIES = (500, 0, 1, 255, 256, 999, 1000)
WRONG = 6
"""How many ways there are to ask for what cannot be."""
PAST_THE_FILE = 2
"""The number of loads of more than the file has."""
MIXED = 8
"""From this number on a batch has a request among the others that cannot be."""
APPS = 3
"""Allocators: two of one process, and one of another app."""


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that happens. app: whose allocator. ids: of buffers. number: of a list. low, high: parts in 1000."""

    do: str
    app: int = 0
    ids: tuple[int, ...] = ()
    number: int = 0
    size: int = 0
    protection: int = 0
    low: int = 0
    high: int = 1000
    with_file: bool = False
    stays: bool = False

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in msgspec.to_builtins(self).items())


def part_of(step: Step, size: int) -> tuple[int, int]:
    """A part of so many bytes that is not empty: where it begins and ends."""
    start = min(size - 1, size * step.low // 1000)
    return start, max(start + 1, size * step.high // 1000)
