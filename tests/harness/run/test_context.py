"""What a case gets for its usual steps: preparation with neutral values, and assertions in one wording."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Failed, Hung, NotApplicable
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.recording import case_result
from npu_conformance.specs.errors import DeadObject, IllegalArgument, ServiceError, Unsupported
from npu_conformance.specs.neuralnetworks.enums import DeviceStatus, ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import Device, PreparedModel
from npu_conformance.specs.neuralnetworks.types import Model, Operation, Subgraph
from npu_conformance.specs.npu.types import LoadStatus
from npu_conformance.specs.plugin import Subject
from npu_conformance.vts.lib.aosp_verdict import with_aosp_verdict

MODEL = Model(main=Subgraph((), (Operation(0, (), ()),), (), ()))
S = ErrorStatus


class FakeDevice(Device):
    """Answers a preparation as the test says. launch: status returned. answers: what the callback receives."""

    def __init__(self, launch: int, *answers: tuple[int, PreparedModel | None]) -> None:
        self.launch, self.answers = launch, answers
        self.arguments: tuple[Any, ...] = ()
        self.supported: tuple[bool, ...] = (True,)

    def prepare_model(self, *arguments: Any) -> None:
        """Remember the arguments, tell the callback, return."""
        self.arguments = arguments
        for answer in self.answers:
            arguments[-1].notify(*answer)
        if self.launch != S.NONE:
            raise ServiceError(self.launch)

    def get_supported_operations(self, model: Model) -> tuple[bool, ...]:
        """What the test says."""
        return self.supported


def trial_of(subject: Any, device: Device | None) -> CaseContext:
    subject.interfaces = Subject(device=device)
    return CaseContext(Case("vts.a.b.c", lambda context: None, ()), subject)


def test_a_preparation_that_succeeds(subject: Any) -> None:
    prepared = PreparedModel()
    device = FakeDevice(S.NONE, (S.NONE, prepared))
    preparation = trial_of(subject, device).prepare(MODEL)
    assert (preparation.launch_status, preparation.status) == (S.NONE, S.NONE)
    assert preparation.prepared_model is prepared
    assert device.arguments[:-1] == (MODEL, 1, 1, -1, (), (), bytes(32))


def test_a_callback_that_a_driver_holds_holds_no_model(subject: Any) -> None:
    """A driver need not send releases: its models would be kept as long as its connection."""
    device = FakeDevice(S.NONE, (S.NONE, PreparedModel()))
    preparation = trial_of(subject, device).prepare(MODEL)
    assert preparation.prepared_model is not None
    model = weakref.ref(preparation.prepared_model)
    device.answers = ()
    del preparation
    gc.collect()
    assert device.arguments[-1].answers == [(S.NONE, None)]
    assert model() is None


def test_a_preparation_that_is_refused(subject: Any) -> None:
    device = FakeDevice(S.INVALID_ARGUMENT, (S.INVALID_ARGUMENT, None))
    preparation = trial_of(subject, device).prepare(MODEL, preference=3)
    assert (preparation.launch_status, preparation.status) == (S.INVALID_ARGUMENT, S.INVALID_ARGUMENT)
    assert preparation.prepared_model is None


def test_a_refusal_without_a_notification_has_no_status(subject: Any) -> None:
    preparation = trial_of(subject, FakeDevice(S.INVALID_ARGUMENT)).prepare(MODEL)
    assert preparation.status is None


def test_a_launched_preparation_without_an_answer_is_a_hang(subject: Any) -> None:
    with pytest.raises(Hung, match="not notified within 10 s"):
        trial_of(subject, FakeDevice(S.NONE)).prepare(MODEL)


def test_a_second_notification_fails(subject: Any) -> None:
    twice = [(S.NONE, PreparedModel()), (S.GENERAL_FAILURE, None)]
    with pytest.raises(Failed, match="expected one notification, found 2"):
        trial_of(subject, FakeDevice(S.NONE, *twice)).prepare(MODEL)


def test_the_number_of_supported_operations_is_checked(subject: Any) -> None:
    device = FakeDevice(S.NONE)
    assert trial_of(subject, device).supported_operations(MODEL) == (True,)
    device.supported = ()
    with pytest.raises(Failed, match="expected 1 answers, one an operation, found 0"):
        trial_of(subject, device).supported_operations(MODEL)


def test_an_execution_counts_for_the_model_that_was_prepared(subject: Any) -> None:
    """Not for one that happens to have the id of a model that is gone."""
    context = trial_of(subject, None)
    for number in range(20):
        made = PreparedModel()
        subject.interfaces = Subject(device=FakeDevice(S.NONE, (S.NONE, made)))
        context.prepare(replace(MODEL, relax_computation_float32_to_float16=bool(number % 2)))
        context.own.models.clear()
        del made
        subject.interfaces = Subject()
        gc.collect()
        context.mark_execution(PreparedModel(), succeeded=True)
        assert not context.own.models, number


def test_without_a_device_a_case_does_not_apply(subject: Any) -> None:
    context = trial_of(subject, None)
    with pytest.raises(Failed, match="expected device, which its manifest names, found none"):
        _ = context.device
    subject.manifest = replace(subject.manifest, interfaces=("manager",))
    with pytest.raises(NotApplicable, match="no device"):
        _ = context.device


def raising(error: Exception) -> Callable[[], None]:
    def call() -> None:
        raise error

    return call


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: checks.equal(1, 2, "x"), "x: expected 2, found 1"),
        (
            lambda: checks.equal([0, 9], [LoadStatus.NOT_PRIORITIZED, LoadStatus.NOT_PRIORITIZED], "x"),
            "x: expected [NOT_PRIORITIZED (2), NOT_PRIORITIZED (2)], found [CAN_LOAD_NOW (0), 9]",
        ),
        (
            lambda: checks.equal({7: 0}, {7: LoadStatus.NOT_PRIORITIZED}, "x"),
            "x: expected {7: NOT_PRIORITIZED (2)}, found {7: CAN_LOAD_NOW (0)}",
        ),
        (
            lambda: checks.equal(DeviceStatus.BUSY, DeviceStatus.AVAILABLE, "status"),
            "status: expected AVAILABLE (0), found BUSY (1)",
        ),
        (lambda: checks.member(5, {1, 2}, "x"), "x: expected one of 1, 2, found 5"),
        (lambda: checks.that(False, "no"), "no"),
        (lambda: checks.status(99, {S.NONE}, "x"), "x: expected NONE, found status 99"),
        (
            lambda: checks.status(None, {S.NONE, S.INVALID_ARGUMENT}, "x"),
            "x: expected NONE or INVALID_ARGUMENT, found no status",
        ),
        (
            lambda: checks.raises_status(lambda: 7, {S.INVALID_ARGUMENT}, "x"),
            "x: expected INVALID_ARGUMENT, found success with 7",
        ),
        (
            lambda: checks.raises_status(raising(ServiceError(2)), {S.INVALID_ARGUMENT}, "x"),
            "x: expected INVALID_ARGUMENT, found GENERAL_FAILURE",
        ),
        (
            lambda: checks.succeeds(raising(ServiceError(2, "oops")), "x"),
            "x: expected success, found ServiceError GENERAL_FAILURE: oops",
        ),
        (
            lambda: checks.succeeds(raising(Unsupported("x is not implemented")), "x"),
            "x: expected success, found Unsupported x is not implemented",
        ),
        (lambda: checks.raises(lambda: 7, IllegalArgument, "x"), "x: expected IllegalArgument, found success with 7"),
        (
            lambda: checks.raises(raising(ServiceError(2)), IllegalArgument, "x"),
            "x: expected IllegalArgument, found ServiceError GENERAL_FAILURE",
        ),
    ],
)
def test_checks_fail_in_one_wording(check: Callable[[], object], message: str) -> None:
    with pytest.raises(Failed) as caught:
        check()
    assert str(caught.value) == message


def test_checks_let_through_what_is_right() -> None:
    checks.equal([1], [1], "x")
    checks.member(1, {1, 2}, "x")
    checks.that(True, "x")
    checks.status(S.NONE, {S.NONE}, "x")
    assert checks.succeeds(lambda: 7, "x") == 7
    assert checks.raises_status(raising(ServiceError(5)), {S.INVALID_ARGUMENT, 5}, "x") == 5
    checks.raises(raising(IllegalArgument()), (IllegalArgument, ServiceError), "x")


@pytest.mark.parametrize("check", [checks.succeeds, lambda call, what: checks.raises(call, IllegalArgument, what)])
def test_a_dead_subject_is_no_ordinary_failure(check: Callable[[Callable[[], object], str], object]) -> None:
    with pytest.raises(DeadObject):
        check(raising(DeadObject("gone")), "x")


def test_a_method_that_a_driver_does_not_have_is_no_ordinary_failure() -> None:
    with pytest.raises(Unsupported):
        checks.works(raising(Unsupported("x is not implemented")), "x")
    with pytest.raises(Failed, match="x: expected success, found ServiceError GENERAL_FAILURE"):
        checks.works(raising(ServiceError(2)), "x")
    assert checks.works(lambda: 7, "x") == 7


def test_long_values_are_cut() -> None:
    assert len(checks.format_value("x" * 10_000)) < 400


class Kept:
    """A resource that raises when it is closed, or not."""

    def __init__(self, problem: Exception | None = None) -> None:
        self.problem, self.is_closed = problem, False

    def close(self) -> None:
        """Close, and raise."""
        self.is_closed = True
        if self.problem is not None:
            raise self.problem


def test_what_one_resource_raises_keeps_no_other_one_open(subject: Any) -> None:
    context = trial_of(subject, None)
    kept = [Kept(), Kept(Failed("later")), Kept(), Kept(DeadObject("first")), Kept()]
    for one in kept:
        context.close_later(one)
    with pytest.raises(DeadObject, match="first"):
        context.close()
    assert all(one.is_closed for one in kept)
    context.close()  # nothing is closed twice


def test_what_is_made_for_a_part_of_a_case_ends_with_it(subject: Any) -> None:
    context = trial_of(subject, None)
    whole, part, late = Kept(), Kept(), Kept()
    context.close_later(whole)
    with context.short_lived():
        context.close_later(part)
    assert (part.is_closed, whole.is_closed) == (True, False)

    def fail_with(*resources: Kept) -> None:
        with context.short_lived():
            for one in resources:
                context.close_later(one)
            raise Failed("of the part")

    with pytest.raises(Failed, match="of the part"):
        fail_with(Kept(Failed("of the end")), late)
    assert late.is_closed
    context.close()
    assert whole.is_closed


def test_resources_from_before_a_restart_may_be_dead(subject: Any) -> None:
    context = trial_of(subject, None)
    kept = [Kept(DeadObject("gone")), Kept()]
    for one in kept:
        context.close_later(one)
    context.restarts = 1
    context.close()
    assert all(one.is_closed for one in kept)


def test_a_failure_names_first_what_the_checks_are_about(make_case: Callable[..., Case], subject: Any) -> None:
    case = make_case("a", requirements=("A", "B"))
    context = CaseContext(case, subject)
    with context.configuration("first", requirements=("C", "D")):
        context.about("D")
        context.about("C", "E")
        checks.fail("x", "1", "2")
    with context.configuration("second"):
        checks.fail("x", "1", "2")
    with context.configuration("third"):
        context.about("B")
    result = case_result(case, context, 0.0)
    found = [(part.broken, result.requirements_of(part)) for part in result.configurations]
    assert found == [(("C", "E"), ("C", "E", "A", "B", "D")), (("A",), ("A", "B")), ((), ("A", "B"))]
    assert [part.requirements for part in result.configurations] == [("C", "D"), (), ()], "beside the case's"


def test_what_a_helper_is_about_comes_before_what_the_case_said(make_case: Callable[..., Case], subject: Any) -> None:
    @checks.about("HELPER")
    def helper() -> None:
        raise ServiceError(S.GENERAL_FAILURE)

    context = CaseContext(make_case("a", requirements=("A",)), subject)
    with context.configuration("x"):
        context.about("CASE")
        with checks.about("CALLER"), with_aosp_verdict("no"):
            helper()
    with context.configuration("y"), checks.about("HANG"), with_aosp_verdict("no"), checks.about("INNER"):
        raise Failed("no")
    assert [record.broken for record in context.configurations.values()] == [("HELPER",), ("INNER",)]
