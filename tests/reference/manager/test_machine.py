"""The state machine over a manager: each promise can be broken, and a failure is shrunk and can be run again."""

from __future__ import annotations

import json

import msgspec
import pytest
from edited_source import applied

from npu_conformance.cts import npu_manager
from npu_conformance.cts.lib.manager_client import CANCELLED, COMPLETE, GRANT, PARKED, WAIT, Event, Notification
from npu_conformance.cts.lib.scenario_step import Step
from npu_conformance.faults.npu_manager import EDITED
from npu_conformance.harness.judge.manager_model import ManagerModel
from npu_conformance.harness.judge.tracked_request import TrackedRequest
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.npu.types import ModelLoadRequest, Policy

CASE = next(case for case in npu_manager.cases() if case.id == "cts.npu_manager.machine.budget")
UNLOAD: Notification = ("unload", 0)


def tracked(
    uid: int, *notifications: Notification, weight: int = 4, loaded: bool = False, new: int = 0
) -> TrackedRequest:
    """A request that received this, the last `new` of it in the newest step."""
    request = ModelLoadRequest(1)
    events = [Event(kind, request, status) for kind, status in notifications]
    return TrackedRequest(uid, request, weight, events, events[len(events) - new :], loaded)


def broken(*requests: TrackedRequest, importance: dict[int, int] | None = None, **changes: object) -> str:
    table = importance or {each.uid: 200 for each in requests}
    model = ManagerModel(Policy.BUDGET, 4, requests=list(requests), importance=table, previous=dict(table))
    for name, value in changes.items():
        setattr(model, name, value)
    return "; ".join(f"{requirement}: {text}" for requirement, text in model.broken())


def test_an_orderly_life_breaks_nothing() -> None:
    held = tracked(1, GRANT, UNLOAD, loaded=True, new=1)
    waiting = tracked(2, WAIT, new=1)
    assert broken(held, waiting, importance={1: 400, 2: 100}) == ""


@pytest.mark.parametrize(
    ("message", "requests"),
    [
        ("not answered", [tracked(1)]),
        ("after its end", [tracked(1, GRANT, COMPLETE, GRANT, new=1)]),
        ("after its completion", [tracked(1, GRANT, COMPLETE, UNLOAD, loaded=True, new=2)]),
        ("completed 2 times", [tracked(1, GRANT, CANCELLED, CANCELLED, new=2)]),
        ("granted 2 times", [tracked(1, GRANT, PARKED, GRANT, new=3)]),
        ("granted though it is loaded", [tracked(1, GRANT, GRANT, loaded=True, new=1)]),
        ("not reported as loaded", [tracked(1, GRANT, UNLOAD, new=1)]),
        ("unloaded nothing", [tracked(1, GRANT, COMPLETE, new=1)]),
        ("cancelled though it is parked", [tracked(1, PARKED, CANCELLED, new=1)]),
        ("cancelled though it is loaded", [tracked(1, GRANT, CANCELLED, loaded=True, new=1)]),
        ("granted and loaded models weigh 8", [tracked(1, GRANT, loaded=True), tracked(2, GRANT, new=1)]),
        ("nobody stronger wants its room", [tracked(1, GRANT, UNLOAD, loaded=True, new=1), tracked(2, PARKED)]),
        ("is free and nobody stronger wants it", [tracked(1, PARKED)]),
        ("reason 77 is not defined", [tracked(1, GRANT, ("unload", 77), loaded=True, new=1)]),
    ],
)
def test_each_promise_can_be_broken(message: str, requests: list[TrackedRequest]) -> None:
    assert message in broken(*requests)


def test_a_grant_that_is_told_again_is_no_further_grant() -> None:
    assert broken(tracked(1, GRANT, GRANT, new=2)) == ""
    again = tracked(1, GRANT, GRANT, new=1)
    assert broken(again, tracked(2, GRANT, loaded=True)) == ""
    assert "granted and loaded models weigh 8" in broken(tracked(1, PARKED, GRANT, new=1), tracked(2, GRANT))


def test_a_broken_promise_names_its_requirement() -> None:
    assert broken(tracked(1)).startswith("NPU-LIF-005: ")
    assert broken(tracked(1, GRANT, CANCELLED, CANCELLED, new=2)).startswith("NPU-LIF-011: ")
    assert broken(tracked(1, WAIT)).startswith("NPU-LIF-007: ")
    held, equal = tracked(1, GRANT, UNLOAD, loaded=True, new=1), tracked(2, PARKED)
    assert "NPU-POL-017: request 1 of uid 1: asked to unload" in broken(held, equal)
    assert "NPU-POL-015: " in broken(held, equal, importance={1: 100, 2: 200})
    risen = {"importance": {1: 400, 2: 100}, "previous": {2: 500}}
    assert "NPU-PRI-013: " in broken(tracked(1, GRANT, loaded=True), equal, **risen)


def test_where_several_things_happen_at_once_what_may_have_crossed_breaks_nothing() -> None:
    crossed = tracked(1, GRANT, CANCELLED, loaded=True, new=1)
    assert broken(crossed, busy=True) == ""
    never_told_of_its_grant = tracked(1, PARKED, CANCELLED, new=1)
    assert broken(never_told_of_its_grant, busy=True) == ""
    loaded_before = tracked(1, PARKED, CANCELLED, loaded=True, new=1)
    loaded_before.was_loaded = True
    assert "cancelled though it is loaded" in broken(loaded_before, busy=True)
    told_again = tracked(1, GRANT, GRANT, loaded=True, new=1)
    assert broken(told_again, busy=True) == ""
    dead = tracked(1, GRANT, new=1)
    dead.dead = True
    assert broken(dead, busy=True) == ""
    assert "after its end" in broken(dead)


def test_what_a_turn_frees_under_pressure_is_known_by_what_stays() -> None:
    held, small = tracked(1, GRANT, loaded=True, weight=2), tracked(2, PARKED, weight=2)
    heavy = tracked(2, PARKED, weight=3)
    assert "not asked to unload" in broken(held, small, pressed=True, eased=False, finished=1)
    assert broken(held, heavy, pressed=True, eased=False, finished=1) == ""


def test_what_was_granted_under_the_same_pressure_is_granted_again() -> None:
    granted = tracked(1, GRANT, weight=2, new=1)
    model = ManagerModel(Policy.BUDGET, 8, requests=[granted], importance={1: 200, 2: 200}, pressed=True, eased=False)
    assert list(model.doubtful()) == []
    model.begin()
    granted.dead = True
    model.requests.append(tracked(2, PARKED, weight=2))
    assert "under the same pressure" in "; ".join(model.doubtful())


def test_the_weakest_leave_first_and_enough_of_them_under_pressure() -> None:
    asked, weaker = tracked(1, GRANT, UNLOAD, loaded=True, new=1, weight=2), tracked(2, GRANT, loaded=True, weight=2)
    wanted = tracked(3, WAIT, new=1)
    assert "less important, stays" in broken(asked, weaker, wanted, importance={1: 200, 2: 400, 3: 100})
    assert "may stay" in broken(tracked(1, GRANT, loaded=True), pressed=True, eased=False)


def test_pressure_that_leaves_one_of_one_is_doubtful_and_breaks_nothing() -> None:
    held = tracked(1, GRANT, loaded=True, weight=1)
    model = ManagerModel(Policy.TURN_TAKING, 1, requests=[held], importance={1: 200}, pressed=True, eased=False)
    assert list(model.broken()) == []
    assert "may stay" in "; ".join(model.doubtful())


def test_an_opportunistic_request_does_not_go_before_an_earlier_normal_one() -> None:
    normal, favoured = tracked(1, PARKED), tracked(1, PARKED, GRANT, new=1)
    favoured.request = ModelLoadRequest(2, priority=2000)
    assert "which is opportunistic" in broken(normal, favoured)
    assert "which is opportunistic" not in broken(favoured, normal)


def test_what_is_passed_over_or_granted_under_pressure_is_named() -> None:
    passed = [tracked(1, PARKED), tracked(2, GRANT, new=1)]
    assert "passed over" in broken(*passed, importance={1: 100, 2: 400})
    assert "under pressure" in broken(tracked(1, GRANT, new=1), pressed=True, eased=False)
    assert "not granted under status quo" in broken(tracked(1, PARKED), policy=Policy.STATUS_QUO)


@pytest.fixture(scope="module")
def failure() -> tuple[Failed, list[Step], str]:
    """The failure of a manager that counts no grants, and the fault's id."""
    fault = next(one for one in EDITED if one.id == "manager-granted-is-not-counted")
    with applied(fault.edits):
        subject = open_subject("reference", isolation="inprocess")
        context = CaseContext(CASE, subject, seed=5, scope=Scope.SMOKE)
        try:
            with pytest.raises(Failed) as raised:
                CASE.run(context)
        finally:
            context.close()
            subject.close()
    assert context.payload is not None
    payload = json.loads(json.dumps(context.payload()))
    return raised.value, msgspec.convert(payload["steps"], list[Step]), fault.id


def test_a_failure_is_cut_down_to_the_steps_that_matter(failure: tuple[Failed, list[Step], str]) -> None:
    error, steps, _ = failure
    assert len(steps) <= 6
    for number, step in enumerate(steps, 1):
        assert f"\n  {number}. {step}" in str(error)


def test_a_failure_is_replayed_without_a_seed(failure: tuple[Failed, list[Step], str]) -> None:
    error, steps, name = failure
    case = npu_manager.case_from({"id": CASE.id, "steps": [msgspec.to_builtins(step) for step in steps]})
    edits = next(one for one in EDITED if one.id == name).edits
    subject = open_subject("reference", isolation="inprocess")
    try:
        case.run(CaseContext(case, subject))
        with applied(edits), pytest.raises(Failed) as raised:
            case.run(CaseContext(case, subject))
    finally:
        subject.close()
    assert str(raised.value) == str(error)


def test_equal_seeds_play_equal_lives() -> None:
    def notes(seed: int) -> list[str]:
        played: list[str] = []
        subject = open_subject("reference", isolation="inprocess")
        step_text = Step.__str__
        try:
            context = CaseContext(CASE, subject, seed=seed, scope=Scope.SMOKE)
            with pytest.MonkeyPatch.context() as patch:
                from npu_conformance.cts.lib.scenario_runner import ScenarioRunner

                original = ScenarioRunner.run

                def run(runner: ScenarioRunner, step: Step) -> None:
                    played.append(step_text(step))
                    original(runner, step)

                patch.setattr(ScenarioRunner, "run", run)
                CASE.run(context)
            context.close()
        finally:
            subject.close()
        return played

    assert notes(1) == notes(1) != notes(2)
