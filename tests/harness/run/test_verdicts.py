"""The engine gives every selected case exactly one verdict, the right one, and goes on."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import npu_conformance
from npu_conformance.harness.judge.classification import classify_exception
from npu_conformance.harness.judge.verdicts import Crashed, Failed, Hung, NotApplicable, NotSupported
from npu_conformance.harness.report import lines
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.engine import Engine, EngineOptions, Run
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseFinished, CaseStarted, RunFinished, RunStarted
from npu_conformance.specs.documents.storing import write_whole
from npu_conformance.specs.errors import DeadObject, LostObject, NotVisible, ServiceError, Unsupported
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.versions import Version

MakeCase = Callable[..., Case]


def raising(error: BaseException) -> Callable[[Any], None]:
    def body(context: Any) -> None:
        raise error

    return body


def run(cases: list[Case], subject: Any, recorder: Any, **options: Any) -> Run:
    return Engine(cases, subject, recorder, EngineOptions(**options)).run()


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (Failed("wrong"), Outcome.FAIL),
        (Crashed("died", signal=11, stderr="last words"), Outcome.CRASH),
        (Hung("silent"), Outcome.HANG),
        (NotSupported("no"), Outcome.NOT_SUPPORTED),
        (NotApplicable("not here"), Outcome.NOT_APPLICABLE),
        (ServiceError(2, "oops"), Outcome.FAIL),
        (Unsupported("getType"), Outcome.NOT_SUPPORTED),
        (NotVisible("how fast it is"), Outcome.NOT_APPLICABLE),
        (DeadObject("gone"), Outcome.CRASH),
        (ZeroDivisionError("bug"), Outcome.SUITE_ERROR),
    ],
)
def test_an_exception_becomes_the_verdict_and_the_next_case_runs(
    make_case: MakeCase, subject: Any, recorder: Any, error: Exception, outcome: Outcome
) -> None:
    result = run([make_case("first", raising(error)), make_case("second")], subject, recorder)
    assert [verdict.outcome for verdict in result.results] == [outcome, Outcome.PASS]
    assert subject.restarts == (1 if outcome in (Outcome.CRASH, Outcome.HANG) else 0)


def test_a_subject_that_answers_dead_object_lives_and_has_failed(
    make_case: MakeCase, subject: Any, recorder: Any
) -> None:
    answered = DeadObject("callback.onEnded: the connection was closed")
    answered.method = "control.advanceClock"
    verdict = run([make_case("a", raising(answered))], subject, recorder).results[0]
    words = "control.advanceClock answered DeadObject: callback.onEnded: the connection was closed"
    assert (verdict.outcome, verdict.message) == (Outcome.FAIL, words)
    assert subject.restarts == 1  # what is dead may be the driver behind it


@pytest.mark.parametrize("first", [Hung("silent"), Crashed("died", signal=11)])
def test_what_cannot_be_closed_behind_a_lost_subject_changes_no_verdict(
    make_case: MakeCase, subject: Any, recorder: Any, first: Exception
) -> None:
    class Remains:
        def close(self) -> None:
            raise DeadObject("nobody answers")

    def body(context: Any) -> None:
        context.close_later(Remains())
        raise first

    verdict = run([make_case("a", body)], subject, recorder).results[0]
    assert verdict.message == str(first)


@pytest.mark.parametrize("first", [Hung("silent"), Crashed("died", signal=11)])
def test_a_dead_object_that_is_found_behind_a_crash_or_hang_is_no_news(
    make_case: MakeCase, subject: Any, recorder: Any, first: Exception
) -> None:
    def body(context: Any) -> None:
        try:
            raise first
        finally:
            try:
                raise LookupError("the connection is closed")
            except LookupError:
                raise DeadObject("release") from None

    verdict = run([make_case("a", body)], subject, recorder).results[0]
    assert verdict.message == str(first)


def test_a_red_case_says_what_its_vector_looks_at(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    cases = [
        replace(make_case(name, body), hazards=("resize-pixel-centres",))
        for name, body in (("red", raising(Failed("wrong"))), ("green", lambda context: None))
    ]
    red, green = run(cases, subject, recorder).results
    told = str(red.notes["hazards"])
    assert "half pixel centres" in told
    assert f"looks at: {told}" in lines.details(red)
    assert "hazards" not in green.notes


def test_of_crashes_behind_each_other_the_first_is_told(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    """The second is what a `finally` finds: it says nothing of why."""

    def body(context: Any) -> None:
        try:
            raise Crashed("the app's connection was closed")
        finally:
            raise Crashed("the suite had killed the host process")

    verdict = run([make_case("a", body)], subject, recorder).results[0]
    assert verdict.message == "the app's connection was closed"


def test_a_configuration_that_needs_what_an_earlier_one_has_lost_is_not_run(
    make_case: MakeCase, subject: Any, recorder: Any
) -> None:
    def body(context: Any) -> None:
        for name, error in (("one", Hung("silent")), ("two", LostObject("execute")), ("three", DeadObject("execute"))):
            with context.configuration(name):
                raise error

    verdict = run([make_case("a", body)], subject, recorder).results[0]
    found = [each.outcome for each in verdict.configurations]
    assert found == [Outcome.HANG, Outcome.NOT_RUN, Outcome.CRASH]


def test_what_was_made_before_a_restart_needs_no_closing(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    class Remains:
        def close(self) -> None:
            raise DeadObject("nobody answers")

    def body(context: Any) -> None:
        context.close_later(Remains())
        with context.configuration("one"):
            raise Hung("silent")

    verdict = run([make_case("a", body)], subject, recorder).results[0]
    assert verdict.outcome is Outcome.HANG


def test_a_crash_keeps_signal_and_last_words(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    verdict = run([make_case("a", raising(Crashed("died", 11, "last words")))], subject, recorder).results[0]
    assert (verdict.signal, verdict.stderr) == (11, "last words")


def test_a_suite_error_keeps_the_tail_of_the_traceback(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    verdict = run([make_case("a", raising(ZeroDivisionError("bug")))], subject, recorder).results[0]
    assert "test_verdicts.py" in verdict.traceback
    assert verdict.message == "ZeroDivisionError: bug"


def test_events_come_in_order(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    run([make_case("a"), make_case("b")], subject, recorder)
    kinds = [type(event) for event in recorder.events]
    assert kinds == [RunStarted, CaseStarted, CaseFinished, CaseStarted, CaseFinished, RunFinished]
    assert recorder.events[0].cases == ("vts.area.subject.a", "vts.area.subject.b")
    assert recorder.events[-1].counts == {"pass": 2}


def test_a_subject_that_can_not_be_restarted_leaves_the_rest_not_run(
    make_case: MakeCase, subject: Any, recorder: Any
) -> None:
    subject.restart_error = OSError("no such device")
    result = run([make_case("a", raising(Crashed("died"))), make_case("b")], subject, recorder)
    assert [verdict.outcome for verdict in result.results] == [Outcome.CRASH, Outcome.NOT_RUN]
    assert "no such device" in result.results[1].message
    assert result.ending == "subject-lost"


def test_losing_the_subject_inside_a_configuration_ends_the_case(
    make_case: MakeCase, subject: Any, recorder: Any
) -> None:
    subject.restart_error = OSError("no such device")
    reached: list[str] = []

    def body(context: Any) -> None:
        with context.configuration("one"):
            raise Crashed("died")
        reached.append("behind")

    result = run([make_case("a", body), make_case("b")], subject, recorder)
    assert [verdict.outcome for verdict in result.results] == [Outcome.CRASH, Outcome.NOT_RUN]
    assert not reached
    assert subject.restarts == 1


HERE = Path(npu_conformance.__file__).parent


@pytest.mark.parametrize(
    ("error", "runs_on"),
    [
        (DocumentError(str(HERE / "corpus" / "vectors" / "gone.json"), "", "No such file or directory"), False),
        (FileNotFoundError(2, "No such file or directory", str(HERE / "gone.json")), False),
        (ModuleNotFoundError("gone", name="npu_conformance.vts.gone"), False),
        (DocumentError(str(HERE / "py.typed"), "", "not JSON"), True),
        (DocumentError("/of/the/user/gone.json", "", "No such file or directory"), True),
        (ModuleNotFoundError("gone", name="numpy.gone"), True),
    ],
)
def test_a_run_ends_where_the_suite_is_replaced_meanwhile(
    make_case: MakeCase, subject: Any, recorder: Any, error: Exception, runs_on: bool
) -> None:
    result = run([make_case("a", raising(error)), make_case("b")], subject, recorder)
    first, second = result.results
    assert first.outcome is Outcome.SUITE_ERROR
    assert second.outcome is (Outcome.PASS if runs_on else Outcome.NOT_RUN)
    assert second.message.startswith("" if runs_on else "the suite was replaced or removed while the run went on: ")


def test_an_interrupt_leaves_the_rest_not_run_and_writes_the_footer(
    make_case: MakeCase, subject: Any, recorder: Any
) -> None:
    cases = [make_case("a"), make_case("b", raising(KeyboardInterrupt())), make_case("c")]
    result = run(cases, subject, recorder)
    assert [verdict.outcome for verdict in result.results] == [Outcome.PASS, Outcome.NOT_RUN, Outcome.NOT_RUN]
    assert recorder.events[-1].ending == "interrupted"


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(None, Outcome.CRASH), (BrokenPipeError(), Outcome.CRASH), (Failed("garbage"), Outcome.FAIL)],
)
@pytest.mark.parametrize("inside", [False, True])
def test_a_subject_found_dead_is_restarted_and_its_death_is_not_the_next_cases(
    make_case: MakeCase, subject: Any, recorder: Any, error: Exception | None, outcome: Outcome, inside: bool
) -> None:
    def body(context: Any) -> None:
        with context.configuration("x") if inside else nullcontext():
            subject.living = False
            if error:
                raise error

    result = run([make_case("a", body), make_case("b")], subject, recorder)
    assert [verdict.outcome for verdict in result.results] == [outcome, Outcome.PASS]
    assert subject.restarts == 1


def test_cases_of_other_versions_and_interfaces_do_not_apply(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    cases = [
        make_case("newer", since=Version.V1_3),
        make_case("older", until=Version.V1_1),
        make_case("manager", interface="manager"),
        make_case("same", since=Version.V1_2, until=Version.V1_2),
    ]
    outcomes = [verdict.outcome for verdict in run(cases, subject, recorder).results]
    assert outcomes == [Outcome.NOT_APPLICABLE] * 3 + [Outcome.PASS]


def test_pools_and_applications_are_closed_when_the_case_ends(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    def body(context: Any) -> None:
        context.pool(16)
        context.application(10001)
        raise Failed("wrong")

    run([make_case("a", body)], subject, recorder)
    assert [pool.closed for pool in subject.memory.created] == [True, True]


def test_seeds_follow_from_run_seed_and_id_alone(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    def seeds(names: str, run_seed: int) -> dict[str, int]:
        results = run([make_case(name) for name in names], subject, recorder, seed=run_seed).results
        return {result.case: result.seed for result in results}

    assert seeds("ab", 7) == seeds("ba", 7)
    assert seeds("ab", 7) != seeds("ab", 8)
    assert len(set(seeds("ab", 7).values())) == 2


def test_shuffling_follows_the_seed(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    cases = [make_case(f"case_{number}") for number in range(20)]

    def order(seed: int) -> list[str]:
        return [result.case for result in run(cases, subject, recorder, seed=seed, shuffle=True).results]

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert sorted(order(1)) == sorted(case.id for case in cases)


def test_two_cases_of_one_id_are_refused(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    with pytest.raises(ValueError, match=r"two cases have the id vts\.area\.subject\.a"):
        Engine([make_case("a"), make_case("a")], subject, recorder)


def test_the_budget_leaves_the_rest_out(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    result = run([make_case("a")], subject, recorder, seconds=0.0)
    assert (result.results, result.left_out) == ([], ["vts.area.subject.a"])


def test_stop_after_leaves_the_rest_not_run(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    result = run([make_case("a", raising(Failed("x"))), make_case("b")], subject, recorder, stop_after=1)
    assert [verdict.outcome for verdict in result.results] == [Outcome.FAIL, Outcome.NOT_RUN]


def test_a_resumed_run_stops_after_red_cases_of_its_own(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    cases = [make_case("a", raising(Failed("x"))), make_case("b"), make_case("c", raising(Failed("x"))), make_case("d")]
    first = run(cases, subject, recorder, stop_after=1)
    earlier = {result.case: result for result in first.results if result.outcome is not Outcome.NOT_RUN}
    again = Engine(cases, subject, recorder, EngineOptions(stop_after=1), earlier=earlier).run()
    found = [Outcome.FAIL, Outcome.PASS, Outcome.FAIL, Outcome.NOT_RUN]
    assert [verdict.outcome for verdict in again.results] == found


def test_a_file_stops_a_run_with_its_reason(make_case: MakeCase, subject: Any, recorder: Any, tmp_path: Path) -> None:
    stop = tmp_path / "stop"
    cases = [make_case("a", lambda context: write_whole(stop, b"enough elsewhere")), make_case("b")]
    result = run(cases, subject, recorder, stop_file=stop)
    assert [verdict.outcome for verdict in result.results] == [Outcome.PASS, Outcome.NOT_RUN]
    assert (result.ending, result.reason) == ("stopped", "enough elsewhere")


def test_a_quality_warning_changes_no_outcome(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    verdict = run([make_case("a", lambda context: context.warn_quality("coarse"))], subject, recorder).results[0]
    assert (verdict.outcome, verdict.warnings) == (Outcome.PASS, ("coarse",))
    assert [disposition.value for disposition in verdict.dispositions] == ["quality-warning"]


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (
            "device.getSupportedOperations",
            "the call device.getSupportedOperations failed: ServiceError: GENERAL_FAILURE",
        ),
        ("", "a call failed: ServiceError: GENERAL_FAILURE"),
    ],
)
def test_a_call_that_failed_unexpectedly_is_named_where_it_is_known(method: str, message: str) -> None:
    error = ServiceError(2)
    error.method = method
    assert classify_exception(error).message == message


class Thing:
    """What a case holds while it runs."""


def test_a_verdict_keeps_nothing_alive_of_what_an_error_has_passed() -> None:
    found: list[weakref.ref[Thing]] = []

    def case() -> None:
        thing = Thing()
        found.append(weakref.ref(thing))
        raise Failed("wrong")

    with pytest.raises(Failed) as raised:
        case()
    assert classify_exception(raised.value).outcome is Outcome.FAIL
    assert found[0]() is None


def test_a_case_that_has_ended_waits_for_no_collector(make_case: MakeCase, subject: Any, recorder: Any) -> None:
    found: list[weakref.ref[CaseContext]] = []

    def body(context: CaseContext) -> None:
        context.attach(lambda: context.case.id)
        found.append(weakref.ref(context))

    run([make_case("a", body)], subject, recorder)
    assert found[0]() is None


def test_errors_that_stand_behind_each_other_end_a_case_like_any() -> None:
    first, second = ValueError("first"), KeyError("second")
    first.__cause__, second.__context__ = second, first  # as of `raise first from second`, which had come behind it
    assert classify_exception(first).outcome is Outcome.SUITE_ERROR


def test_crashes_that_stand_behind_each_other_end_a_case_like_any() -> None:
    first, second = Crashed("first"), Crashed("second")
    first.__context__, second.__context__ = second, first
    assert classify_exception(first).outcome is Outcome.CRASH
