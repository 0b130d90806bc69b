"""NPU Managers and scheduling HALs that conform, each in its own way, have no finding."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from edited_source import applied
from fuzzing import first_finding

from npu_conformance.faults import npu_buffers, npu_manager, npu_scheduling
from npu_conformance.faults.kill_matrix import PLUGIN
from npu_conformance.faults.source_edits import EditedFault
from npu_conformance.fuzz.lib.histories import encoded
from npu_conformance.fuzz.lib.manager_target import ManagerTarget
from npu_conformance.fuzz.lib.scheduling_steps import APPS, Break, Cancel, Pass, Step, Submit
from npu_conformance.fuzz.lib.scheduling_target import SchedulingTarget
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject

TARGETS: dict[str, Callable[[SubjectHandle], Any]] = {"manager": ManagerTarget, "scheduling": SchedulingTarget}
RUNS = {"manager": 100, "scheduling": 150}
VARIANTS = {
    "manager": (
        "manager-boundary-alone",
        "manager-aosp-profile",
        "manager-opportunistic-500",
        "manager-opportunistic-negative",
    ),
    "scheduling": ("npu-narrow", "npu-cuttlefish"),
}
EDITED = {
    "manager": (*npu_manager.EDITED_VARIANTS, *npu_buffers.EDITED_VARIANTS),
    "scheduling": npu_scheduling.EDITED_VARIANTS,
}


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        (name, subject)
        for name in TARGETS
        for subject in (
            ("reference", {}),
            ("reference", {"npu_profile": "aosp"}),
            *((PLUGIN, {"fault": variant}) for variant in VARIANTS[name]),
        )
    ],
    indirect=["subject"],
    ids=lambda value: value if isinstance(value, str) else " ".join((value[0][:9], *value[1].values())),
)
def test_what_conforms_has_no_finding(name: str, subject: SubjectHandle) -> None:
    assert first_finding(TARGETS[name](subject), seed=7, runs=RUNS[name]) is None


@pytest.mark.parametrize(
    ("name", "row"),
    [(name, row) for name in TARGETS for row in EDITED[name]],
    ids=lambda value: getattr(value, "id", value),
)
def test_what_decides_otherwise_has_no_finding(name: str, row: EditedFault) -> None:
    with applied(row.edits), closing(open_subject("reference", {}, "inprocess")) as subject:
        assert first_finding(TARGETS[name](subject), seed=3, runs=60) is None


@pytest.mark.parametrize(
    "steps",
    [
        [Submit(0), Cancel(0), Submit(1), Pass(3), Submit(0)],
        [Submit(0), Submit(2), Break(APPS[2])],
    ],
    ids=["behind-an-end", "ended-before-its-answer"],
)
def test_work_without_room_may_have_no_events(steps: list[Step]) -> None:
    variant = next(row for row in npu_scheduling.EDITED_VARIANTS if row.id == "npu-one-app-fails")
    with applied(variant.edits), closing(open_subject("reference", {}, "inprocess")) as subject:
        SchedulingTarget(subject).run(encoded(steps))
