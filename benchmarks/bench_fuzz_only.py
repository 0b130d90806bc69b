"""Measures how soon campaigns find the faults that no default case shows, by processor time.

Guided (`evolution`), without a guide (`hypothesis`), and with neither guide nor structure (`random`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from statistics import median

from benchmarks import random_bytes
from benchmarks.bench_fuzz import sights_of
from benchmarks.figures import Figure
from npu_conformance.faults import registry
from npu_conformance.faults.fault import FuzzFault
from npu_conformance.faults.kill_matrix import GUARDED
from npu_conformance.fuzz.lib.engines import evolution, hypothesis_engine
from npu_conformance.fuzz.lib.target import NOT_JUDGED, Attacked, Target, failure, fuzzer_named
from npu_conformance.harness.judge.verdicts import CaseEnded
from npu_conformance.harness.subject.loading import open_subject

SECONDS = 60.0
"""Of a processor, for each fault and engine, from the first input on."""
_LONGEST = 24 * 3600.0
_SEED = 1
Search = Callable[[Target, evolution.Features, int], None]


class _Over(BaseException):
    """Ends a search: something was found, or the time is over. Hypothesis would run any Exception once more."""


def figures() -> Iterator[Figure]:
    """For each fuzzer and engine how many of its faults are found in the time, and the median of that."""
    faults = registry.fuzz_only().values()
    for fuzzer in dict.fromkeys(fault.fuzzer for fault in faults):
        own = [fault for fault in faults if fault.fuzzer == fuzzer]
        for engine in ENGINES:
            yield _figure(f"{fuzzer}, {engine}, {SECONDS:g} s", {one.id: seconds_to(one, engine) for one in own})


def _figure(name: str, found: dict[str, float | None]) -> Figure:
    seconds = [one for one in found.values() if one is not None]
    missed = ", ".join(fault for fault, one in found.items() if one is None) or "none"
    told = f"of {len(found)}; half of those found within {median(seconds or [0.0]):.2g} s; not found: {missed}"
    return Figure(name, len(seconds), "found", told)


def seconds_to(fault: FuzzFault, engine: str) -> float | None:
    """Seconds of a processor until the first finding; None where the limit comes first.

    An input that fails on the reference without the fault as well is no finding: the search goes on.
    """
    fuzzer = fuzzer_named(fault.fuzzer)
    with (
        closing(open_subject(GUARDED, {"fault": fault.id}, "inprocess")) as subject,
        closing(open_subject("reference", isolation="inprocess")) as healthy,
    ):
        faulty = fuzzer.target(Attacked(subject, GUARDED, {"fault": fault.id}))
        return _seconds(faulty, fuzzer.target(Attacked(healthy, "reference", {})), ENGINES[engine])


def _seconds(faulty: Target, healthy: Target, search: Search) -> float | None:
    begun, is_found = time.process_time(), False

    def attack(data: bytes) -> frozenset[int]:
        nonlocal is_found
        if time.process_time() - begun > SECONDS:
            raise _Over
        try:
            return sights_of(faulty, data)
        except NOT_JUDGED:
            return frozenset()
        except CaseEnded:
            if failure(healthy.run, data):
                return frozenset()
            is_found = True
            raise _Over from None

    try:
        search(faulty, attack, _SEED)
    except _Over:
        return time.process_time() - begun if is_found else None
    return None


def _evolution(target: Target, attack: evolution.Features, seed: int) -> None:
    evolution.search(target, attack, seed=seed, seconds=_LONGEST)


def _hypothesis(target: Target, attack: evolution.Features, seed: int) -> None:
    hypothesis_engine.search(target, attack, seed=seed, seconds=_LONGEST)


def _random(target: Target, attack: evolution.Features, seed: int) -> None:
    random_bytes.search(target, attack, seed=seed)


ENGINES: dict[str, Search] = {"evolution": _evolution, "hypothesis": _hypothesis, "random": _random}
