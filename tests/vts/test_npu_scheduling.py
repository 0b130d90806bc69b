"""The cases of the scheduling HAL: the reference passes in every isolation, faults are caught, variants are green."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import patience
import pytest

from npu_conformance.faults import kill_matrix, registry, source_edits
from npu_conformance.faults.fault import Fault
from npu_conformance.faults.npu_scheduling import (
    EDITED,
    EDITED_VARIANTS,
    FAULTS,
    OBSERVED,
    REAL_TIME,
    REAL_TIME_VARIANTS,
)
from npu_conformance.harness.judge.classification import OutcomeDetails, classify_exception
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run.applicability import inapplicable
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.inference_tool import ToolRun
from npu_conformance.harness.subject.loading import Isolation, open_subject
from npu_conformance.specs import ids, requirements
from npu_conformance.specs.errors import SecurityDenied
from npu_conformance.specs.manifest import InferenceTool, Manifest
from npu_conformance.specs.npu.scheduling import Scheduling
from npu_conformance.specs.npu.workload import InferenceRun, Workload, WorkloadCallback
from npu_conformance.specs.plugin import Subject
from npu_conformance.specs.versions import Version
from npu_conformance.vts import npu_scheduling
from npu_conformance.vts.lib.npu_scheduling import bursts_due
from npu_conformance.vts.lib.npu_scheduling.apps import App
from npu_conformance.vts.lib.npu_scheduling.events import COMPLETED, REQUESTED, RESUMED, STARTED, USER, Notification
from npu_conformance.vts.lib.npu_scheduling.fixture import SchedulingFixture
from npu_conformance.vts.lib.npu_scheduling.runs import Run
from npu_conformance.vts.npu_scheduling import another_device

CASES = {case.id: case for case in npu_scheduling.cases()}
IN_REAL_TIME = {
    name for name in CASES if name.startswith(("vts.npu_scheduling.executions.", "vts.npu_scheduling.real_time."))
} | {"vts.npu_scheduling.callback.blocked_in_real_time"}
"""They apply in real time alone: variants and faults show what they are worth."""
EDITS = {one.id: one for one in (*EDITED, *EDITED_VARIANTS, *REAL_TIME, *REAL_TIME_VARIANTS, *OBSERVED)}


@pytest.mark.parametrize(("isolation", "every"), [("process", 3), ("inprocess", 1)])
def test_the_reference_passes(isolation: Isolation, every: int) -> None:
    """In a process each third case: continuous integration's main job runs all of them so."""
    subject = open_subject("reference", isolation=isolation)
    try:
        endings = {
            case.id: _run(case, CaseContext(case, subject, scope=Scope.SMOKE))
            for case in list(CASES.values())[::every]
            if case.id not in IN_REAL_TIME
        }
    finally:
        subject.close()
    assert {name: ending for name, ending in endings.items() if ending != OutcomeDetails()} == {}


def _run(case: Case, context: CaseContext) -> OutcomeDetails:
    try:
        case.run(context)
    except Exception as error:
        return classify_exception(error)
    finally:
        context.close()
    return OutcomeDetails()


def test_the_cases_that_have_no_twin_on_another_device_are_cases() -> None:
    assert {name.removeprefix("vts.npu_scheduling.") for name in CASES} >= set(another_device._OF_NO_DEVICE)


@pytest.mark.parametrize("name", EDITS)
def test_every_edit_finds_its_text(name: str) -> None:
    assert source_edits.prepare(EDITS[name].edits)


def test_each_fault_breaks_what_a_case_that_catches_it_is_evidence_for() -> None:
    for fault in FAULTS:
        evidence = {id_ for name in fault.caught_by for id_ in CASES[name].requirements}
        assert set(fault.breaks) & evidence, fault.id


@pytest.mark.parametrize("fault", FAULTS[::12], ids=lambda fault: str(fault.id))
def test_a_sample_of_faults_is_caught(fault: Fault) -> None:
    row = kill_matrix.run_fault(fault, list(CASES.values()))
    assert row.is_caught, row


@pytest.mark.parametrize(
    ("first", "name"), [*enumerate(("npu-aosp", "npu-narrow", "npu-no-work", "npu-ids-when-told"))]
)
def test_a_sample_of_variants_is_green(first: int, name: str) -> None:
    """Each meets another quarter of the cases; `faults --variants` runs all."""
    row = kill_matrix.run_variant(registry.conforming()[name], list(CASES.values())[first::4])
    assert row.is_green, row


def test_every_requirement_of_the_scheduling_hal_has_a_case() -> None:
    evidence = {id_ for case in CASES.values() for id_ in case.requirements}
    of_hal = {one.id for one in requirements.all_requirements() if one.id.startswith("NPU-HAL-")}
    assert of_hal <= evidence
    assert "NPU-ACC-006" in evidence


def test_cases_have_legal_ids_known_requirements_and_a_description() -> None:
    for case in CASES.values():
        assert ids.parse(case.id).area == "npu_scheduling"
        assert case.interface == "scheduling"
        assert case.description
        assert all(requirements.requirement(name) for name in case.requirements)


def test_a_driver_without_the_scheduling_hal_is_not_asked() -> None:
    manifest = Manifest(name="nn-only", vendor="v", version="1")
    assert all(inapplicable(case, manifest, Version.FL8) for case in CASES.values())


def _tool(folder: Path, script: str, words: tuple[str, ...] = ("{uid}",)) -> InferenceTool:
    path = folder / "run-test-inference"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return InferenceTool((str(path), *words))


def _wait(run: ToolRun) -> bool:
    run._process.wait(patience.SECONDS)
    return bool(run.succeeded)


def test_a_tool_is_told_its_options_and_success_is_exit_code_0(tmp_path: Path) -> None:
    tool = _tool(tmp_path, f'echo "$@" > {tmp_path}/said')
    assert _wait(ToolRun(tool, 10_001, InferenceRun(7, 42)))
    assert (tmp_path / "said").read_text() == "10001 --job-priority 7 --original-uid 42\n"
    assert not _wait(ToolRun(_tool(tmp_path, "exit 3"), 10_001, InferenceRun()))


def test_a_tool_that_can_not_be_started_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="inference tool cannot be started"):
        ToolRun(InferenceTool((str(tmp_path / "missing"),)), 10_001, InferenceRun())


def test_a_tool_that_hangs_is_killed(tmp_path: Path) -> None:
    run = ToolRun(_tool(tmp_path, "exec sleep 60"), 10_001, InferenceRun())
    assert run.succeeded is None
    run.kill()
    assert run.succeeded is False


class Silent:
    """A subject from which nothing ever arrives. waits: for how many seconds it was asked to wait for something."""

    interfaces = Subject()
    waits: list[float]

    def __init__(self, tool: InferenceTool) -> None:
        self.manifest = Manifest(
            name="silent", vendor="v", version="1", interfaces=("scheduling",), inference_tool=tool
        )
        self.waits = []

    def wait_until(self, predicate: Callable[[], bool], seconds: float) -> bool:
        self.waits.append(seconds)
        return predicate()

    def serve_pending(self) -> bool:
        return False


def _silent(tool: InferenceTool) -> tuple[SchedulingFixture, Silent]:
    subject = Silent(tool)
    context = SimpleNamespace(
        subject=subject, manifest=subject.manifest, present=lambda found, name: found, case_uid=lambda uid: uid
    )
    return SchedulingFixture(cast(CaseContext, context)), subject


def test_the_end_of_a_tool_is_noticed_where_no_event_tells_of_it(tmp_path: Path) -> None:
    npu, subject = _silent(_tool(tmp_path, "sleep 0.1; exit 1"))
    npu.app(npu.camera).is_rejected()
    assert subject.waits == []


def test_nobody_waits_long_for_events_of_a_tool_that_has_failed(tmp_path: Path) -> None:
    npu, subject = _silent(_tool(tmp_path, "exit 1"))
    app = npu.app(npu.camera)
    app.start()
    with pytest.raises(Failed, match="start of the inferences"):
        npu.wait(lambda: bool(app.received()), "start of the inferences")
    assert sum(subject.waits) <= 2.0


def test_a_run_that_never_ends_is_waited_for_once() -> None:
    npu, subject = _silent(InferenceTool(("true",), uid=0))
    npu.scheduling = cast(Scheduling, SimpleNamespace(set_scheduling_configs=print, set_callback=print))
    npu.runs.append(Run())
    with pytest.raises(Failed, match="end of the inferences"):
        npu.end_of(npu.runs[0])
    assert max(subject.waits) == 30.0
    subject.waits.clear()
    npu.leave()
    assert max(subject.waits) <= 1.0


def test_apps_reach_work_and_not_what_steers_it() -> None:
    subject = open_subject("reference", isolation="process")
    try:
        application = subject.application(10_001)
        assert application.interfaces.workload is not None
        assert application.interfaces.scheduling_control is None
        assert subject.interfaces.scheduling_control is not None
    finally:
        subject.close()


def test_a_failure_says_what_the_inferences_were_rejected_with() -> None:
    class Denying(Workload):
        def run_test_inference(self, run: InferenceRun, callback: WorkloadCallback) -> None:
            raise SecurityDenied("no direct access")

    run = App._by_interface(cast(App, None), Denying(), InferenceRun())
    fixture, _ = _silent(InferenceTool(("true",), uid=0))
    with pytest.raises(Failed, match=r"^inferences: expected success, found a rejection: SecurityDenied no direct a"):
        fixture.succeeds(run, "inferences")
    failed = Run()
    failed.on_run_ended(False)
    with pytest.raises(Failed, match=r"found onRunEnded\(false\)$"):
        fixture.succeeds(failed, "inferences")


@pytest.mark.parametrize(
    ("found", "requirement"),
    [
        ((REQUESTED, STARTED, COMPLETED, REQUESTED), "NPU-HAL-025"),
        ((REQUESTED, STARTED), "NPU-HAL-024"),
        ((REQUESTED, STARTED, USER), "NPU-HAL-030"),
        ((REQUESTED, RESUMED, COMPLETED), "NPU-HAL-029"),
    ],
)
def test_events_that_are_not_due_are_told_by_the_rule_that_they_break(
    found: tuple[Notification, ...], requirement: str
) -> None:
    assert bursts_due.broken(found, (REQUESTED, STARTED, COMPLETED))[0] == requirement
