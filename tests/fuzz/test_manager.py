"""The fuzzer of NPU Managers: bugs that need several steps are found and made small."""

from __future__ import annotations

from contextlib import closing

import msgspec
import pytest
from fuzzing import finding

from npu_conformance.faults.kill_matrix import PLUGIN
from npu_conformance.fuzz.lib import manager_target
from npu_conformance.fuzz.lib.histories import encoded
from npu_conformance.fuzz.lib.manager_steps import Ask, Crash, Load, SetPolicy, Works
from npu_conformance.fuzz.lib.manager_target import ManagerTarget
from npu_conformance.harness.judge.manager_model import ManagerModel
from npu_conformance.harness.judge.verdicts import CaseEnded, NotApplicable
from npu_conformance.harness.subject.handle import Application, SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.plugin import Subject

DRIVERS = "managed_drivers:plugin"


@pytest.mark.parametrize(
    ("subject", "where", "steps", "seed"),
    [
        ("completes-twice", "NPU-LIF-011 completed N times", 3, 1),
        ("mixes-apps", "NPU-POL-022 cancelled though it is parked", 5, 0),
        ("half-sets-policy", "NPU-LIF-010 unloaded, and not completed", 4, 7),
        ("ends-others", "NPU-POL-014 cancelled though it is loaded", 5, 0),
        ("forgets-after-hal", "NPU-PRI-005 priority N of uid N at the HAL", 3, 1),
        ("loses-answers", "NPU-LIF-005 not answered", 3, 0),
    ],
    indirect=["subject"],
    ids=lambda value: value[1]["bug"] if isinstance(value, tuple) else "",
)
def test_bugs_of_several_steps_are_found_and_made_small(
    subject: SubjectHandle, where: str, steps: int, seed: int
) -> None:
    """seed: one of sixteen with which a bug is found early."""
    target = ManagerTarget(subject)
    found = finding(target, seed=seed, runs=4000)
    assert found.kind == "wrong-status"
    assert found.where.startswith(where)
    smallest = found.minimised(target, 150)
    assert len(msgspec.json.decode(smallest)) <= steps


@pytest.mark.parametrize("subject", ["keeps-room-of-the-dead"], indirect=True)
def test_room_is_judged_after_a_death_beside_a_loaded_model(subject: SubjectHandle) -> None:
    """This takes seven steps in order, which no engine finds in seconds."""
    dead = (SetPolicy(maximum=8), Ask(0, 1), Load(0, 1), Ask(0, 2), Crash(0))
    with pytest.raises(CaseEnded, match="not granted, though 8 of 8 is free"):
        ManagerTarget(subject).run(encoded((*dead, Ask(1, 1), Ask(1, 2))))


@pytest.mark.parametrize("subject", [(PLUGIN, {"fault": "manager-rotation-asks-for-one"})], indirect=True)
def test_a_turn_that_does_not_end_is_found(subject: SubjectHandle) -> None:
    loaded = (SetPolicy(maximum=8), Ask(0, 1), Load(0, 1), Ask(0, 2), Load(0, 2))
    with pytest.raises(CaseEnded, match="not asked to unload, though its app has completed work"):
        ManagerTarget(subject).run(encoded((*loaded, Ask(1, 1), Works(0))))


@pytest.mark.parametrize("subject", [(PLUGIN, {"fault": "manager-opportunistic-500"})], indirect=True)
def test_the_number_of_opportunistic_requests_is_the_manifest_s(
    subject: SubjectHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ManagerModel] = []

    def model(**given: int) -> ManagerModel:
        made.append(ManagerModel(**given))  # type: ignore[arg-type]
        return made[-1]

    monkeypatch.setattr(manager_target, "ManagerModel", model)
    ManagerTarget(subject).run(b"[]")
    assert [one.opportunistic for one in made] == [500]


def test_a_fixture_whose_apps_cannot_reach_the_manager_leaves_no_hal(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(open_subject("reference", {}, "inprocess")) as subject:
        control = subject.interfaces.manager_control
        assert control is not None
        connected: list[object] = []
        monkeypatch.setattr(control, "connect_hal", connected.append)
        start = subject.application

        def application(uid: int, pid: int = 0) -> Application:
            process = start(uid, pid)
            monkeypatch.setattr(process, "interfaces", Subject())
            return process

        monkeypatch.setattr(subject, "application", application)
        with pytest.raises(NotApplicable, match="apps cannot reach the manager"):
            ManagerTarget(subject).run(b"[]")
        assert connected[-1] is None
