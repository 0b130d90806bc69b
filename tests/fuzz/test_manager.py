"""The fuzzer of NPU Managers: bugs that need several steps are found and made small; what conforms has none."""

from __future__ import annotations

import msgspec
import pytest
from edited_source import applied
from fuzzing import finding, first_finding

from npu_conformance.faults import npu_buffers, npu_manager
from npu_conformance.faults.kill_matrix import PLUGIN
from npu_conformance.faults.source_edits import EditedFault
from npu_conformance.fuzz.lib.histories import encoded
from npu_conformance.fuzz.lib.manager_steps import Ask, Crash, Load, SetPolicy
from npu_conformance.fuzz.lib.manager_target import ManagerTarget
from npu_conformance.harness.judge.verdicts import CaseEnded
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject

_VARIANTS = (
    "manager-boundary-alone",
    "manager-aosp-profile",
    "manager-opportunistic-500",
    "manager-opportunistic-negative",
)


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


@pytest.mark.parametrize(
    "subject",
    [
        ("reference", {}),
        ("reference", {"npu_profile": "aosp"}),
        *((PLUGIN, {"fault": name}) for name in _VARIANTS),
    ],
    indirect=True,
    ids=lambda value: " ".join((value[0][:9], *value[1].values())),
)
def test_what_conforms_has_no_finding(subject: SubjectHandle) -> None:
    target = ManagerTarget(subject)
    assert first_finding(target, seed=7, runs=100) is None


@pytest.mark.parametrize("row", [*npu_manager.EDITED_VARIANTS, *npu_buffers.EDITED_VARIANTS], ids=lambda row: row.id)
def test_what_decides_otherwise_has_no_finding(row: EditedFault) -> None:
    with applied(row.edits):
        opened = open_subject("reference", {}, "inprocess")
        try:
            assert first_finding(ManagerTarget(opened), seed=3, runs=60) is None
        finally:
            opened.close()
