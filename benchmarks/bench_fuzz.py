"""Measures what the fuzzers find: planted defects of tests/hostile, at which input, by both engines."""

from __future__ import annotations

import importlib
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure
from npu_conformance.fuzz.lib.engines import evolution, hypothesis_engine
from npu_conformance.fuzz.lib.target import Attacked, Fuzzer, Target, fuzzer_named
from npu_conformance.harness.judge.verdicts import CaseEnded, NotApplicable
from npu_conformance.harness.subject.loading import open_subject

DRIVERS = {
    "burst": "burst_drivers",
    "cache": "cache_drivers",
    "differential": "differing_drivers",
    "manager": "managed_drivers",
    "memory_domain": "buffer_drivers",
    "models": "fuzzed_drivers",
    "requests": "requested_drivers",
    "runtime": "called_runtimes",
    "scheduling": "scheduled_drivers",
}
"""The modules of tests/hostile with the defects that a fuzzer is to find: each has BUGS, its values of option `bug`."""
_HOSTILE = Path(__file__).parents[1] / "tests" / "hostile"
_SEED = 1
_MOST = 5000
"""Inputs for each defect: seconds of a campaign."""
_SPEED = 500
"""Inputs by which the speed is measured, of the reference in this process."""
Search = Callable[[Target, evolution.Sights], None]


class _FoundError(Exception):
    """Ends a search."""


def figures() -> Iterator[Figure]:
    """For each fuzzer the defects found by each engine, and inputs a second."""
    sys.path.insert(0, str(_HOSTILE))
    for name, module in DRIVERS.items():
        fuzzer = fuzzer_named(name)
        bugs = tuple(importlib.import_module(module).BUGS)
        for engine, search in (("evolution", _evolution), ("hypothesis", _hypothesis)):
            first = {bug: _first(fuzzer, f"{module}:plugin", bug, search) for bug in bugs}
            yield _found(f"{name}, {engine}", first)
        yield Figure(f"{name}, inputs on one core", _speed(fuzzer), "/s")


def _found(name: str, first: dict[str, int | None]) -> Figure:
    numbers = [number for number in first.values() if number is not None]
    missed = [bug for bug, number in first.items() if number is None]
    compared = f"of {len(first)} planted; half of them within {median(numbers or [0]):g} inputs"
    return Figure(name, len(numbers), "found", f"{compared}; not found: {', '.join(missed) or 'none'}")


def _first(fuzzer: Fuzzer, plugin: str, bug: str, search: Search) -> int | None:
    """The number of the input that shows a defect, or None."""
    subject = open_subject(plugin, {"bug": bug}, "inprocess")
    target, tried = fuzzer.target(Attacked(subject, plugin, {"bug": bug})), 0

    def attack(data: bytes) -> frozenset[int]:
        nonlocal tried
        tried += 1
        try:
            return sights_of(target, data)
        except NotApplicable:
            return frozenset()
        except CaseEnded:
            raise _FoundError from None

    try:
        search(target, attack)
    except _FoundError:
        return tried
    finally:
        subject.close()
    return None


def sights_of(target: Target, data: bytes) -> frozenset[int]:
    return frozenset(zlib.crc32(sight.encode()) for sight in target.run(data))


def _evolution(target: Target, attack: evolution.Sights) -> None:
    evolution.search(target, attack, seed=_SEED, runs=_MOST)


def _hypothesis(target: Target, attack: evolution.Sights) -> None:
    hypothesis_engine.search(target, attack, seed=_SEED, runs=_MOST)


def _speed(fuzzer: Fuzzer) -> float:
    subject = open_subject("reference", isolation="inprocess")
    target = fuzzer.target(Attacked(subject, "reference", {}))
    started = time.process_time()
    evolution.search(target, lambda data: sights_of(target, data), seed=_SEED, runs=_SPEED)
    seconds = time.process_time() - started
    subject.close()
    return _SPEED / seconds
