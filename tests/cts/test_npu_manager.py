"""The NPU Manager's cases: all pass on the reference, and each fault is caught by the cases it names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest
from edited_source import applied
from msgspec.structs import replace

from npu_conformance.cts import npu_manager
from npu_conformance.cts.lib import manager_client, manager_fixture
from npu_conformance.cts.npu_manager import request
from npu_conformance.faults import kill_matrix, managers, registry
from npu_conformance.faults.fault import Fault
from npu_conformance.faults.npu_manager import FAULTS
from npu_conformance.faults.source_edits import EditedFault
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.classification import OutcomeDetails, classify_exception
from npu_conformance.harness.judge.manager_events import WAIT, CallbackRecorder
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run import random_search, seeds
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import Isolation, open_subject
from npu_conformance.specs import ids, requirements
from npu_conformance.specs.npu.manager import ModelLoadStatusListener
from npu_conformance.specs.npu.types import ModelLoadRequest
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.plugin import Subject

FAULTY = "npu_conformance.faults.plugin:plugin"
CASES = {case.id: case for case in npu_manager.cases()}
QUICK = {name: case for name, case in CASES.items() if ".machine." not in name}
LEFT_OUT = (
    "legacy_app_that_works",
    "known_before_it_works",
    "known_to_the_next_hal",
    "deaf_client",
    "not_at_once_in_real_time",
)
"""In the profile and by the clock that the reference has by default."""


def run(case: Case, subject: SubjectHandle, scope: Scope = Scope.SMOKE) -> tuple[OutcomeDetails, list[str]]:
    """Run one case, with the seed that it has by default; the details, and the quality warnings."""
    context = CaseContext(case, subject, seed=seeds.case_seed(0, case.id), scope=scope)
    try:
        case.run(context)
    except Exception as error:
        return classify_exception(error), context.own.warnings
    finally:
        context.close()
    return OutcomeDetails(), context.own.warnings


@pytest.fixture
def quickly_red(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait long for what a fault withholds, nor look for the fewest steps that show it.

    tests/faults/test_random_scenarios.py cuts scenarios down.
    """
    monkeypatch.setattr(random_search, "most_replays", 0)
    monkeypatch.setattr(manager_client, "_GRANT_SECONDS", 0.2)
    monkeypatch.setattr(manager_fixture, "CALLBACK_SECONDS", 0.5)


def expect_detected(case: Case, subject: SubjectHandle, as_: str) -> None:
    details, warnings = run(case, subject, Scope.DEFAULT)
    if as_ == "quality-warning":
        assert details.outcome is Outcome.PASS
        assert warnings
    else:
        assert details.outcome is Outcome.FAIL, details


@pytest.fixture(scope="module")
def reference() -> Iterator[SubjectHandle]:
    subject = open_subject("reference", isolation="inprocess")
    yield subject
    subject.close()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_reference_passes_again_and_again(case: Case, reference: SubjectHandle) -> None:
    expected = Outcome.NOT_APPLICABLE if case.id.endswith(LEFT_OUT) else Outcome.PASS
    for _ in range(2 if case.id in QUICK else 1):  # random scenarios are several as it is
        details, warnings = run(case, reference)
        assert (details.outcome, warnings) == (expected, []), details


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
def test_the_reference_passes_in_any_order(isolation: Isolation) -> None:
    subject = open_subject("reference", isolation=isolation)
    try:
        for case in reversed(QUICK.values()):
            details, _ = run(case, subject)
            assert details.outcome in (Outcome.PASS, Outcome.NOT_APPLICABLE), (case.id, details)
    finally:
        subject.close()


@pytest.mark.parametrize("name", [row.id for row in (*managers.REAL_TIME, *managers.TOGETHER)])
@pytest.mark.usefixtures("quickly_red")
def test_each_fault_that_leaves_threads_or_disorder_is_caught_in_a_process_of_its_own(name: str) -> None:
    row = kill_matrix.run_fault(registry.faults()[name], list(CASES.values()))
    assert row.is_caught, row


@pytest.mark.usefixtures("quickly_red")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_each_fault_at_the_boundary_is_caught_by_the_case_it_names(fault: Fault) -> None:
    subject = open_subject(FAULTY, {"fault": fault.id}, "inprocess")
    try:
        for name in fault.caught_by:
            expect_detected(CASES[name], subject, fault.detected_as)
    finally:
        subject.close()


# A table that a fault has left in disorder may raise in the thread of a connection that ends.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.usefixtures("quickly_red")
@pytest.mark.parametrize("fault", [*managers.EDITED, *managers.EDITED_AT_WORK], ids=lambda fault: fault.id)
def test_each_fault_of_the_source_is_caught_by_the_cases_it_names(fault: EditedFault) -> None:
    with applied(fault.edits):
        for name in set(fault.caught_by) & set(CASES):  # those of buffers have a test beside their allocators
            subject = open_subject("reference", isolation="inprocess")
            try:
                expect_detected(CASES[name], subject, fault.detected_as)
            finally:
                subject.close()


def test_each_fault_breaks_what_its_cases_are_evidence_for() -> None:
    for fault in managers.FAULTS:
        for name in set(fault.caught_by) & set(CASES):
            assert set(fault.breaks) & set(CASES[name].requirements), (fault.id, name)


@pytest.mark.parametrize(
    ("first", "name"), [*enumerate(("manager-boundary-alone", "manager-aosp-profile", "manager-real-time"))]
)
def test_managers_that_differ_and_conform_stay_green(first: int, name: str) -> None:
    """Each meets those that the reference leaves out and another third; tox's matrix runs the cells with all cases."""
    left_out = [case for case in QUICK.values() if case.id.endswith(LEFT_OUT)]
    subject = open_subject(FAULTY, {"fault": name}, "inprocess")
    try:
        for case in (*left_out, *list(QUICK.values())[first::3]):
            details, _ = run(case, subject)
            assert details.outcome in (Outcome.PASS, Outcome.NOT_APPLICABLE), (case.id, details)
    finally:
        subject.close()


@pytest.mark.parametrize(
    ("variant", "first"),
    [pytest.param(variant, number % 9, id=variant.id) for number, variant in enumerate(managers.EDITED_VARIANTS)],
)
def test_freedoms_stay_green(variant: EditedFault, first: int) -> None:
    """Each meets another ninth of the cases; `faults --variants` runs all."""
    with applied(variant.edits):
        subject = open_subject("reference", isolation="inprocess")
        try:
            for case in list(QUICK.values())[first::9]:
                details, _ = run(case, subject)
                assert details.outcome in (Outcome.PASS, Outcome.NOT_APPLICABLE), (case.id, details)
        finally:
            subject.close()


def test_cases_have_legal_ids_known_requirements_and_a_description() -> None:
    for case in CASES.values():
        assert ids.parse(case.id).area == "npu_manager"
        assert case.interface == "manager"
        assert case.description
        assert case.requirements
        for identifier in case.requirements:
            reason = requirements.requirement(identifier).untested
            assert reason == "" or reason.startswith("A freedom"), identifier


def test_a_flood_is_forgotten_within_its_own_case(reference: SubjectHandle, monkeypatch: pytest.MonkeyPatch) -> None:
    """A manager that takes its time to forget it was a hang in the next case, which removes the app of the same uid."""
    removed: list[int] = []
    manager_control = reference.interfaces.manager_control
    assert manager_control is not None
    monkeypatch.setattr(request, "_FLOOD", {Scope.SMOKE: 3})
    monkeypatch.setattr(manager_control, "remove_app", removed.append)
    details, _ = run(CASES["cts.npu_manager.request.flood"], reference)
    assert details.outcome is Outcome.PASS, details
    assert removed[-1] == manager_fixture.FIRST_APP


def test_a_subject_without_control_is_not_judged(reference: SubjectHandle, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = reference.interfaces.manager
    monkeypatch.setattr(reference, "interfaces", Subject(manager=manager))
    monkeypatch.setattr(reference, "manifest", replace(reference.manifest, interfaces=("manager",)))
    for case in CASES.values():
        details, _ = run(case, reference)
        assert details.outcome is Outcome.NOT_APPLICABLE, case.id


LOOKS_AT_WHAT_HAS_ARRIVED = (
    "callers.strangers_reach_no_request",
    "identity.id_is_free_again",
    "order.parked_before_a_new_policy",
    "pressure.heat_unloads",
    "pressure.no_grant_beyond",
    "pressure.no_grant_until_it_holds",
    "pressure.other_pressure_stays",
    "pressure.shortage_unloads",
    "rotation.least_recent_first",
    "rotation.turns_while_others_load",
)
"""The cases that look at callbacks of several apps, of which each may be on its way in real time."""


@pytest.mark.parametrize("name", LOOKS_AT_WHAT_HAS_ARRIVED)
def test_callbacks_on_their_way_are_waited_for(name: str) -> None:
    variant = registry.conforming()["manager-slow-deliveries"]
    row = kill_matrix.run_variant(variant, [CASES[f"cts.npu_manager.{name}"]])
    assert row.is_green, row


def test_both_sides_of_a_comparison_of_callbacks_are_named() -> None:
    recorder = CallbackRecorder()
    request = ModelLoadRequest(1)
    recorder.on_can_load_model(request, 0, cast(ModelLoadStatusListener, None))
    recorder.on_can_load_model(request, 2, cast(ModelLoadStatusListener, None))
    recorder.on_model_load_request_complete(request, 99)
    with pytest.raises(Failed) as caught:
        checks.equal(recorder.of(1), [WAIT], "callbacks of request 1")
    assert str(caught.value) == (
        "callbacks of request 1: expected [('decision', WAIT_FOR_UNLOAD (1))], found "
        "[('decision', CAN_LOAD_NOW (0)), ('decision', NOT_PRIORITIZED (2)), ('complete', 99)]"
    )


def test_a_failure_tells_what_the_apps_did_before() -> None:
    subject = open_subject("reference", isolation="inprocess")
    context = CaseContext(CASES["cts.npu_manager.budget.default_weights"], subject, seed=1)
    fixture = manager_fixture.ManagerFixture(context)
    model = fixture.app().loads()
    with pytest.raises(Failed) as caught:
        model.receives(WAIT)
    context.close()
    subject.close()
    uid = model.app.uid
    assert str(caught.value).splitlines()[1:] == [
        "Steps:",
        "  1. the policy is BUDGET",
        f"  2. uid {uid} is an app of importance FOREGROUND (100)",
        f"  3. uid {uid} asks: request 1, size 2, priority 0",
        f"  4. uid {uid} loads request 1",
    ]
