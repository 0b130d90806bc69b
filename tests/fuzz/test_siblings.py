"""Siblings of faults that were missed for long: two that are found in a second (docs/benchmarks.md has all)."""

from __future__ import annotations

from contextlib import closing

import pytest

from npu_conformance.fuzz.lib.engines import evolution
from npu_conformance.fuzz.lib.target import Attacked, fuzzer_named
from npu_conformance.harness.judge.verdicts import CaseEnded
from npu_conformance.harness.subject.loading import open_subject

PLUGIN = "sibling_faults:plugin"


@pytest.mark.parametrize("bug", ["manager/first-id", "manager/weak-cancelled"])
def test_a_sibling_is_found(bug: str) -> None:
    with closing(open_subject(PLUGIN, {"bug": bug}, "inprocess")) as subject:
        target = fuzzer_named("manager").target(Attacked(subject, PLUGIN, {"bug": bug}))

        def attack(data: bytes) -> frozenset[int]:
            return frozenset(map(hash, target.run(data)))

        with pytest.raises(CaseEnded):
            evolution.search(target, attack, seed=1, runs=1000)
