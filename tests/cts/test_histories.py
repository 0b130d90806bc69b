"""Random histories of an app: green on the reference whatever the seed, the same each time, cut down and replayed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing

import pytest

from npu_conformance.cts import histories
from npu_conformance.cts.lib.runtime.histories import history as lives
from npu_conformance.cts.lib.runtime.histories.steps import STEPS
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.versions import Version

FAULTY = "npu_conformance.faults.plugin:plugin"
CASES = {case.id: case for case in histories.cases()}
_EXACT = 2**24
"""Up to this magnitude each whole number is a float32."""


@pytest.fixture(scope="module")
def reference() -> Iterator[SubjectHandle]:
    with closing(open_subject("reference", isolation="inprocess")) as subject:
        yield subject


@pytest.mark.parametrize("version", [Version.V1_3, Version.FL8], ids=lambda version: version.value)
def test_a_seed_that_nobody_has_tried_is_green(version: Version) -> None:
    with closing(open_subject("reference", isolation="inprocess", version=version)) as subject:
        for case in CASES.values():
            context = CaseContext(case, subject, seed=77, scope=Scope.SMOKE)
            with closing(context):
                case.run(context)
                assert context.is_flawless


def test_every_step_is_drawn() -> None:
    assert {*histories._EXECUTIONS, *histories._MEMORIES, *histories._REFUSALS} == set(STEPS)


def test_the_same_seed_tells_the_same_history(reference: SubjectHandle, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[list[str]] = []
    say = lives.AppHistory.say

    def heard(self: lives.AppHistory, text: str) -> None:
        said[-1].append(text)
        say(self, text)

    monkeypatch.setattr(lives.AppHistory, "say", heard)
    case = CASES["cts.histories.app.disturbed"]
    for _ in range(2):
        said.append([])
        with closing(CaseContext(case, reference, seed=5, scope=Scope.SMOKE)) as context:
            case.run(context)
    assert said[0] == said[1]
    assert said[0]


def test_whatever_is_drawn_is_computed_exactly() -> None:
    """A net whose numbers were too large would be judged by a tolerance that hides what a history looks for."""
    for seed in range(60):
        chance = random.Random(seed)
        net = lives._net(chance)
        for _ in range(3):
            for array in net.expected_of(lives.drawn_inputs(net, chance)).values():
                assert abs(array).max() < _EXACT


def test_what_a_history_finds_is_cut_down_and_replayed(reference: SubjectHandle) -> None:
    case = CASES["cts.histories.app.disturbed"]
    with closing(open_subject(FAULTY, {"fault": "runtime-computed-twice"}, isolation="process")) as subject:
        with closing(CaseContext(case, subject, seed=1, scope=Scope.DEFAULT)) as context:
            with pytest.raises(Failed, match="second computation: expected BAD_STATE") as caught:
                case.run(context)
            assert context.payload is not None
            payload = context.payload()
        assert str(caught.value).count("\n  ") <= 4
        again = histories.case_from(payload)
        with (
            closing(CaseContext(again, subject, seed=2, scope=Scope.DEFAULT)) as context,
            pytest.raises(Failed, match="second computation: expected BAD_STATE"),
        ):
            again.run(context)
    with closing(CaseContext(again, reference, seed=2, scope=Scope.DEFAULT)) as context:
        again.run(context)
