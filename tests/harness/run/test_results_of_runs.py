"""What is recorded survives, adds up, and every selected case shows, whatever was lost on the way."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from logged_runs import logged
from msgspec.structs import replace

from npu_conformance.faults.self_checks.fakes import FakeDevice, executing, stored_model
from npu_conformance.harness.judge.outcome_table import exit_code, row
from npu_conformance.harness.judge.verdicts import Crashed, Failed, NotApplicable, NotSupported
from npu_conformance.harness.judge.waivers import Waivers
from npu_conformance.harness.run import operation_evidence, results
from npu_conformance.harness.run.cases import MANDATORY, Case, Group
from npu_conformance.harness.run.events import Log
from npu_conformance.harness.run.folders import RESULTS
from npu_conformance.harness.run.results import build
from npu_conformance.specs.documents.results import (
    CaseFinished,
    CaseResult,
    Event,
    OperationUse,
    RunFinished,
    Selection,
)
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.outcomes import Disposition, Outcome
from npu_conformance.specs.plugin import Subject

MakeCase = Callable[..., Case]


def fails(context: Any) -> None:
    raise Failed("wrong")


def refuses(context: Any) -> None:
    raise NotSupported("no")


def lacks_control(context: Any) -> None:
    context.present(None, "manager_control")


def grouped(make_case: MakeCase) -> list[Case]:
    return [make_case(f"group_{group.value}", group=group) for group in MANDATORY["device"]]


def test_a_run_in_which_everything_passed_is_conformant(make_case: MakeCase, subject: Any, path: Path) -> None:
    outcome = build(logged(grouped(make_case), subject, path))
    assert outcome.conformant, outcome.reasons
    assert (outcome.exit_code, outcome.counts, outcome.complete) == (0, {"pass": 4}, True)


@pytest.mark.parametrize(
    ("body", "code", "reason"),
    [(fails, 1, "1 fail: vts.area.subject.x"), (lambda context: 1 / 0, 3, "1 suite-error: vts.area.subject.x")],
)
def test_what_is_wrong_is_named(
    make_case: MakeCase, subject: Any, path: Path, body: Any, code: int, reason: str
) -> None:
    outcome = build(logged([*grouped(make_case), make_case("x", body)], subject, path))
    assert (outcome.exit_code, outcome.conformant, outcome.reasons) == (code, False, (reason,))


def test_what_cases_lack_that_do_not_apply_is_told(make_case: MakeCase, subject: Any, path: Path) -> None:
    def lacks(context: Any) -> None:
        raise NotApplicable("no clock")

    outcome = build(logged([make_case("x"), make_case("y", lacks), make_case("z", lacks)], subject, path))
    assert outcome.thin_coverage == ("2 of 3 cases of the NN HAL do not apply: 2 since no clock",)


def test_what_configurations_lack_is_the_reason_of_their_case(make_case: MakeCase, subject: Any, path: Path) -> None:
    def lacks(context: Any) -> None:
        for name in ("first", "second"):
            with context.configuration(name):
                raise NotApplicable(f"no clock for the {name}")

    outcome = build(logged([make_case("x"), make_case("y", lacks)], subject, path))
    assert outcome.thin_coverage == ("1 of 2 cases of the NN HAL do not apply: 1 since no clock for the first",)


def test_no_case_that_does_not_apply_is_counted_twice(make_case: MakeCase, subject: Any, path: Path) -> None:
    def lacks(what: str) -> Any:
        def body(context: Any) -> None:
            with context.configuration("first"):
                raise NotApplicable(what)

        return body

    without = "the subject has no runtime_control interface"
    cases = [make_case("x"), *(make_case(f"w{number}", lacks(without)) for number in range(3))]
    cases += [make_case("y", lacks("no clock"))]
    first, second = build(logged(cases, subject, path)).thin_coverage
    assert first.startswith(f"3 of 5 cases of the NN HAL could not be tested: {without} (")
    assert second == "1 more of 5 cases of the NN HAL do not apply: 1 since no clock"


def test_what_few_cases_lack_that_do_not_apply_is_counted(make_case: MakeCase, subject: Any, path: Path) -> None:
    def lacks(what: str) -> Any:
        def body(context: Any) -> None:
            raise NotApplicable(f"no {what}")

        return body

    cases = [make_case("w", lacks("bus")), make_case("x", lacks("clock"))]
    cases += [make_case("y1", lacks("clock")), make_case("y2", lacks("clock")), make_case("z", lacks("pen"))]
    (told,) = build(logged([make_case("a"), *cases], subject, path)).thin_coverage
    assert told.endswith("do not apply: 3 since no clock; 1 since no bus; 1 for other reasons")


def test_why_cases_were_not_run_is_told(make_case: MakeCase, subject: Any, path: Path) -> None:
    cases = [make_case("x", fails), make_case("y"), make_case("z")]
    outcome = build(logged(cases, subject, path, stop_after=1))
    assert "2 not-run (stopped after 1 red case): vts.area.subject.y vts.area.subject.z" in outcome.reasons


def test_a_refused_mandatory_group_is_not_conformant_but_green(make_case: MakeCase, subject: Any, path: Path) -> None:
    cases = [*grouped(make_case)[:3], make_case("memory", refuses, group=Group.MEMORY)]
    outcome = build(logged(cases, subject, path))
    assert (outcome.exit_code, outcome.reasons) == (0, ("nothing of the mandatory group memory passes",))


def test_a_group_of_which_nothing_was_run_is_not_conformant(make_case: MakeCase, subject: Any, path: Path) -> None:
    outcome = build(logged(grouped(make_case)[:3], subject, path))
    assert outcome.reasons == ("no case of the mandatory group memory was run",)


def test_passes_of_one_interface_stand_for_no_other(make_case: MakeCase, subject: Any, path: Path) -> None:
    subject.manifest = Manifest(name="fake", vendor="nobody", version="1", interfaces=("device", "manager"))
    groups = MANDATORY["manager"]
    alike = [make_case(group.value, lacks_control, group=group) for group in groups[1:]]
    outcome = build(logged([*grouped(make_case), make_case("queries", group=groups[0]), *alike], subject, path))
    assert (outcome.exit_code, outcome.conformant) == (0, False)
    assert outcome.reasons == tuple(
        f"no case of the mandatory group {group.value} was run: the subject has no manager_control interface "
        "(to be judged, add a manager_control to the plug-in)"
        for group in groups[1:]
    )


def test_a_group_is_explained_by_what_most_of_its_cases_say(make_case: MakeCase, subject: Any, path: Path) -> None:
    def says(reason: str) -> Callable[[Any], None]:
        def body(context: Any) -> None:
            raise NotApplicable(reason)

        return body

    reasons = ("rare", "often", "often", *("since 1.3, the subject is 1.2",) * 3)
    memory = [make_case(f"m{n}", says(why), group=Group.MEMORY) for n, why in enumerate(reasons)]
    outcome = build(logged([*grouped(make_case)[:3], *memory], subject, path))
    assert outcome.reasons == ("no case of the mandatory group memory was run: often",)


def test_reasons_that_name_different_things_are_one(make_case: MakeCase, subject: Any, path: Path) -> None:
    def says(reason: str) -> Callable[[Any], None]:
        def body(context: Any) -> None:
            raise NotApplicable(reason)

        return body

    reasons = ("no clock", "no clock", *(f"the model is not fetched: models fetch {name}" for name in "abc"))
    cases = [make_case("x"), *(make_case(f"m{n}", says(why)) for n, why in enumerate(reasons))]
    outcome = build(logged(cases, subject, path))
    (told,) = outcome.thin_coverage
    assert told.endswith("do not apply: 3 since the model is not fetched; 2 since no clock")
    (most,) = (line for line in outcome.reasons if line.startswith("most of "))
    assert most.endswith("5 of 6 cases, mostly since the model is not fetched")


def test_configurations_are_counted_in_the_order_of_outcomes(make_case: MakeCase, subject: Any, path: Path) -> None:
    def body(context: Any) -> None:
        for name, error in (("a", NotSupported("no")), ("b", None), ("c", Failed("wrong"))):
            with context.configuration(name):
                if error:
                    raise error

    outcome = build(logged([make_case("x", body)], subject, path))
    assert list(outcome.configuration_counts) == ["pass", "fail", "not-supported"]


def test_a_partial_selection_is_not_conformant(make_case: MakeCase, subject: Any, path: Path) -> None:
    outcome = build(logged(grouped(make_case), subject, path, selection=Selection(deselected=2)))
    assert outcome.reasons == ("not selected: 2 cases that may apply",)


def test_a_single_shard_is_not_conformant(make_case: MakeCase, subject: Any, path: Path) -> None:
    outcome = build(logged(grouped(make_case), subject, path, selection=Selection(shard="1/2")))
    assert outcome.reasons == ("only shard 1/2 was run",)


def test_a_case_is_explained_by_its_configuration(make_case: MakeCase, subject: Any, path: Path) -> None:
    def body(context: Any) -> None:
        with context.configuration("x"):
            raise Failed("wrong")

    assert build(logged([make_case("a", body)], subject, path)).cases[0].message == "#x: wrong"


def test_what_the_budget_left_out_is_green_but_not_conformant(make_case: MakeCase, subject: Any, path: Path) -> None:
    outcome = build(logged([make_case("a")], subject, path, seconds=0.0))
    assert outcome.exit_code == 0
    assert [entry.case for entry in outcome.left_out] == ["vts.area.subject.a"]
    assert not outcome.conformant


def test_unsupported_is_counted_and_thin_coverage_said(make_case: MakeCase, subject: Any, path: Path) -> None:
    subject.interfaces = Subject(device=FakeDevice(supported=True))
    cases = [
        make_case("a", executing(stored_model("PAD", "float32_rank1", "")), operations=("PAD",)),
        make_case("b", refuses, operations=("ADD",), types=("TENSOR_FLOAT32", "TENSOR_INT32")),
    ]
    outcome = build(logged(cases, subject, path))
    assert [(entry.operation, entry.type, entry.counts) for entry in outcome.unsupported] == [
        ("ADD", "TENSOR_FLOAT32", {"not-supported": 1}),
        ("ADD", "TENSOR_INT32", {"not-supported": 1}),
    ]
    assert outcome.thin_coverage == (
        "1 of 2 cases not supported (50%)",
        "1 of 2 operations have a passing case; none: ADD",
    )
    assert outcome.by_suite == {"vts": {"pass": 1, "not-supported": 1}}
    assert outcome.by_requirement == {"REQ-1": {"pass": 1, "not-supported": 1}}


def test_an_operation_in_the_models_of_another_ones_cases_is_none_of_the_run() -> None:
    def of_relu6(name: str, outcome: Outcome, other: str) -> CaseResult:
        operations = ("RELU6", other)
        executed: dict[str, tuple[str, ...]] = dict.fromkeys(operations, ("TENSOR_FLOAT32",))
        model = tuple(OperationUse(operation, supported=operation == "RELU6") for operation in operations)
        return CaseResult(
            case=f"vts.generated.RELU6.{name}",
            outcome=outcome,
            own_outcome=outcome,
            operations=operations,
            executed=executed if outcome is Outcome.PASS else {},
            refused=(model,) if outcome is Outcome.NOT_SUPPORTED else (),
        )

    chained = [of_relu6("a", Outcome.PASS, "ADD"), of_relu6("b", Outcome.NOT_SUPPORTED, "SLICE")]
    assert operation_evidence.coverage(chained) == (["RELU6"], [])
    many = [replace(result, case="vts.random_graphs.mixed") for result in chained]
    assert operation_evidence.coverage(many) == (["ADD", "RELU6"], ["SLICE"])


def test_waiver_problems_turn_the_run_red(make_case: MakeCase, subject: Any, path: Path) -> None:
    class Expired(Waivers):
        def problems(self, results: Any, *, whole: bool = True) -> list[str]:
            return ["waiver x expired"]

    outcome = build(logged(grouped(make_case), subject, path), Expired())
    assert (outcome.exit_code, outcome.red, outcome.conformant) == (1, ("waiver x expired",), False)


def test_results_are_written_and_read_back(make_case: MakeCase, subject: Any, path: Path) -> None:
    outcome = build(logged([make_case("a", fails)], subject, path))
    file = path.with_name(RESULTS)
    results.write(outcome, file)
    assert results.read(file) == outcome


def without(path: Path, event_kind: type, case: str) -> Log:
    """The log with one event taken out: a sink that loses things."""
    log = Log()
    decoder = msgspec.json.Decoder(Event)
    for line in path.read_bytes().splitlines():
        event = decoder.decode(line)
        name = getattr(event, "case", None) or getattr(getattr(event, "result", None), "case", None)
        if not (isinstance(event, event_kind) and name == case):
            log.add(event)
    return log


def test_a_lost_verdict_shows_as_not_run_and_as_a_failure_of_the_suite(
    make_case: MakeCase, subject: Any, path: Path
) -> None:
    logged([make_case("a"), make_case("b")], subject, path)
    outcome = build(without(path, CaseFinished, "vts.area.subject.b"))
    assert [entry.case for entry in outcome.not_run] == ["vts.area.subject.b"]
    assert outcome.exit_code == 3
    assert "vts.area.subject.b was selected, but the run ended without a verdict for it" in outcome.problems


def test_a_verdict_recorded_twice_is_a_failure_of_the_suite(make_case: MakeCase, subject: Any, path: Path) -> None:
    log = logged([make_case("a")], subject, path)
    log.add(CaseFinished(result=log.results["vts.area.subject.a"]))
    outcome = build(log)
    assert outcome.exit_code == 3
    assert "vts.area.subject.a has two verdicts: pass, then pass" in outcome.problems
    assert outcome.counts == {"pass": 1}


def test_a_verdict_nobody_asked_for_is_a_failure_of_the_suite(make_case: MakeCase, subject: Any, path: Path) -> None:
    log = logged([make_case("a")], subject, path)
    log.add(CaseFinished(result=msgspec.structs.replace(log.results["vts.area.subject.a"], case="vts.x.y.z")))
    assert "vts.x.y.z has a verdict, but was not selected" in build(log).problems


def test_a_footer_that_counts_otherwise_is_a_failure_of_the_suite(
    make_case: MakeCase, subject: Any, path: Path
) -> None:
    log = logged([make_case("a")], subject, path)
    log.add(RunFinished(counts={"pass": 2}, seconds=0.0, ending="complete"))
    assert build(log).exit_code == 3


def test_the_table_is_closed_and_a_waiver_changes_only_what_it_can() -> None:
    codes = {outcome.value: row(outcome).exit_code for outcome in Outcome}
    assert codes == {
        "pass": 0, "fail": 1, "crash": 1, "hang": 1, "not-supported": 0, "not-applicable": 0,
        "not-run": 1, "suite-error": 3,
    }  # fmt: skip
    waived = {outcome.value: row(outcome, [Disposition.WAIVED]).exit_code for outcome in Outcome}
    assert waived == codes | {"fail": 0, "crash": 0, "hang": 0}
    assert (exit_code([]), exit_code([0, 1, 3]), exit_code([0, 1])) == (0, 3, 1)


def test_the_groups_of_the_documents_are_those_of_the_cases() -> None:
    from typing import get_args

    from npu_conformance.specs.documents.results import GroupName

    assert set(get_args(GroupName)) == {group.value for group in Group}


def test_a_crash_is_recorded_with_its_signal(make_case: MakeCase, subject: Any, path: Path) -> None:
    def body(context: Any) -> None:
        raise Crashed("died", signal.SIGSEGV, "last words")

    verdict = logged([make_case("a", body)], subject, path).results["vts.area.subject.a"]
    assert (verdict.signal, verdict.stderr) == (11, "last words")
