"""The figures that a benchmark hands to the runner, and the timing of commands."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    compared: what it is measured against in the same run, with that value, or empty. aim: the limit, or None.
    at_least: whether the limit is a lower one.
    """

    name: str
    value: float
    unit: str
    compared: str = ""
    aim: float | None = None
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """`met` or `MISSED`; empty without an aim."""
        if self.aim is None:
            return ""
        return "met" if (self.value >= self.aim if self.at_least else self.value <= self.aim) else "MISSED"

    @property
    def aimed_at(self) -> str:
        """The aim in words."""
        if self.aim is None:
            return ""
        return f"{'>=' if self.at_least else '<='} {self.aim:g} {self.unit}"


@dataclass(frozen=True)
class Cost:
    """The seconds that a command took: by the clock, and on processors (its children's included)."""

    wall: float
    processor: float


def cost(command: Sequence[str], repeats: int = 7) -> Cost:
    """The least of several runs, each figure by itself: the least disturbed one. Raises CalledProcessError."""
    walls, processors = [], []
    for _ in range(repeats):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        walls.append(time.perf_counter() - started)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processors.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        # A run of part of the suites passes and is still not shown to be conformant: 0; 1 would be a red case.
        if done.returncode != 0:
            raise subprocess.CalledProcessError(done.returncode, command, stderr=done.stderr)
    return Cost(min(walls), min(processors))


def busy() -> float:
    """The processes that want a processor, on average of the last minute, for each processor."""
    return os.getloadavg()[0] / len(os.sched_getaffinity(0))
