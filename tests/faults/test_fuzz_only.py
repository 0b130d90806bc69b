"""Faults that only fuzzers find: their tables, and a sample that is found."""

from __future__ import annotations

import importlib

import pytest

from npu_conformance.faults import registry
from npu_conformance.faults.fuzz_only.seen import SEEN
from npu_conformance.faults.kill_matrix import GUARDED
from npu_conformance.fuzz.lib.engines import evolution
from npu_conformance.fuzz.lib.target import Attacked, Fuzzer
from npu_conformance.harness.judge.verdicts import CaseEnded
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs import requirements

ONLY = registry.fuzz_only()
SAMPLE = [
    "fuzz-cache-last-after-failures",
    "fuzz-differential-deep-bytes",
    "fuzz-requests-offset-of-16-bits",
    "fuzz-burst-two-releases",
    "fuzz-models-two-quantisation-errors",
]
"""Those that are found soonest."""
_MOST = 2000


def test_there_are_enough() -> None:
    assert len(ONLY) >= 40


def test_each_is_seen_by_a_case_or_by_fuzzers_alone() -> None:
    known = {fault.id for fault in registry.fuzzed()}
    assert SEEN.keys() <= known
    assert set(ONLY) == known - SEEN.keys()
    assert not ONLY.keys() & registry.faults().keys()


def test_each_breaks_something_that_is_written_down() -> None:
    known = {one.id for one in requirements.all_requirements()}
    assert {fault.id: fault.breaks for fault in ONLY.values() if not known.issuperset(fault.breaks)} == {}


@pytest.mark.parametrize("name", SAMPLE)
def test_a_fuzzer_finds_it(name: str) -> None:
    fault = ONLY[name]
    fuzzer: Fuzzer = importlib.import_module(f"npu_conformance.fuzz.{fault.fuzzer}").FUZZER
    options = {"fault": name}
    subject = open_subject(GUARDED, options, "inprocess")
    target = fuzzer.target(Attacked(subject, GUARDED, options))
    with pytest.raises(CaseEnded):
        evolution.search(target, lambda data: frozenset(map(hash, target.run(data))), seed=1, runs=_MOST)
    subject.close()
