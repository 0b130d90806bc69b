"""Measures what the fuzzers find: planted defects of tests/hostile, at which input, by both engines."""

from __future__ import annotations

import importlib
import random
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median
from unittest import mock

import msgspec

from benchmarks.figures import Figure
from npu_conformance.fuzz import wire
from npu_conformance.fuzz.lib import model_mutator
from npu_conformance.fuzz.lib.choices import SIZE, Choices
from npu_conformance.fuzz.lib.engines import evolution, hypothesis_engine
from npu_conformance.fuzz.lib.findings import Defect
from npu_conformance.fuzz.lib.line_target import LineTarget
from npu_conformance.fuzz.lib.model_class import classify
from npu_conformance.fuzz.lib.target import LARGEST_INPUT, Attacked, Fuzzer, Target, fuzzer_named
from npu_conformance.fuzz.lib.worker import leave_to_the_end
from npu_conformance.harness.judge.verdicts import CaseEnded, NotApplicable
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.versions import NEWEST

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
_MOST_LINES = 50_000
"""Of single lines, of which a second has more than ten thousand."""
_SPEED = 500
"""Inputs by which the speed is measured, of the reference in this process."""
Search = Callable[[Target, evolution.Features, int], None]


class _FoundError(Exception):
    """Ends a search."""


def figures() -> Iterator[Figure]:
    """For each fuzzer the defects found by each engine, and inputs a second."""
    sys.path.insert(0, str(_HOSTILE))
    for name, module in DRIVERS.items():
        fuzzer = fuzzer_named(name)
        bugs = tuple(importlib.import_module(module).BUGS)
        for engine, search in ENGINES.items():
            first = {bug: _first(fuzzer, f"{module}:plugin", bug, search) for bug in bugs}
            yield _found(f"{name}, {engine}", first)
        yield Figure(f"{name}, inputs on one core", _speed(fuzzer, _SPEED), "/s")
    yield from _figures_of_lines()
    yield Figure("models, made and judged by the validator alone, on one core", models_a_second(), "/s")
    yield Figure("wire, lines on one core", lines_a_second(), "/s")


def _found(name: str, first: dict[str, int | None]) -> Figure:
    numbers = [number for number in first.values() if number is not None]
    missed = [bug for bug, number in first.items() if number is None]
    compared = f"of {len(first)} planted; half of them within {median(numbers or [0]):g} inputs"
    return Figure(name, len(numbers), "found", f"{compared}; not found: {', '.join(missed) or 'none'}")


def _first(fuzzer: Fuzzer, plugin: str, bug: str, search: Search) -> int | None:
    """The number of the input that shows a defect, or None."""
    subject = open_subject(plugin, {"bug": bug}, "inprocess")
    try:
        return _first_of(fuzzer.target(Attacked(subject, plugin, {"bug": bug})), search, _MOST)
    finally:
        subject.close()


def _first_of(target: Target, search: Search, most: int) -> int | None:
    """The number of the first input that fails, or None. A mistake of this suite is a defect where one was planted."""
    tried = 0

    def attack(data: bytes) -> frozenset[int]:
        nonlocal tried
        tried += 1
        try:
            return sights_of(target, data)
        except NotApplicable:
            return frozenset()
        except (CaseEnded, Defect):
            raise _FoundError from None

    try:
        search(target, attack, most)
    except _FoundError:
        return tried
    return None


def _figures_of_lines() -> Iterator[Figure]:
    """The defects of decoders, which are put into the suite's own code."""
    bugs = importlib.import_module("decoders_with_bugs").BUGS
    for engine, search in ENGINES.items():
        first: dict[str, int | None] = {}
        for bug, (owner, name, made) in bugs.items():
            with mock.patch.object(owner, name, made(getattr(owner, name))):
                first[bug] = _first_of(LineTarget(), search, _MOST_LINES)
        yield _found(f"lines, {engine}", first)
    yield Figure("lines, inputs on one core", _speed(fuzzer_named("lines"), _MOST_LINES), "/s")


def sights_of(target: Target, data: bytes) -> frozenset[int]:
    return frozenset(zlib.crc32(feature.encode()) for feature in target.run(data))


def _evolution(target: Target, attack: evolution.Features, runs: int) -> None:
    evolution.search(target, attack, seed=_SEED, runs=runs)


def _hypothesis(target: Target, attack: evolution.Features, runs: int) -> None:
    hypothesis_engine.search(target, attack, seed=_SEED, runs=runs)


ENGINES: dict[str, Search] = {"evolution": _evolution, "hypothesis": _hypothesis}


def _speed(fuzzer: Fuzzer, runs: int) -> float:
    subject = open_subject("reference", isolation="inprocess")
    target = fuzzer.target(Attacked(subject, "reference", {}))
    seconds = _seconds(target, lambda data: sights_of(target, data), runs)
    subject.close()
    return runs / seconds


def _seconds(target: Target, attack: evolution.Features, runs: int) -> float:
    leave_to_the_end()
    started = time.process_time()
    evolution.search(target, attack, seed=_SEED, runs=runs)
    return time.process_time() - started


def models_a_second() -> float:
    """Models that are changed, read, and judged by the validator: an input of `models` but for the device."""
    version = NEWEST
    seeds, source, decoder = model_mutator.seeds(version), random.Random(_SEED), msgspec.json.Decoder(Model)
    started, judged = time.process_time(), 0
    while judged < _SPEED:
        data = model_mutator.mutate(source.choice(seeds), Choices(source.randbytes(SIZE)), seeds, LARGEST_INPUT)
        with suppress(msgspec.MsgspecError):
            classify(decoder.decode(data), version)
            judged += 1
    return _SPEED / (time.process_time() - started)


def lines_a_second() -> float:
    """Lines of changed conversations that a server takes, answers, and is judged by."""
    subject, lines = open_subject("reference", isolation="inprocess"), 0
    target = wire.FUZZER.target(Attacked(subject, "reference", {}))

    def attack(data: bytes) -> frozenset[int]:
        nonlocal lines
        lines += data.count(b"\n") + 1
        return sights_of(target, data)

    seconds = _seconds(target, attack, _SPEED)
    subject.close()
    return lines / seconds
