"""The cases of the NNAPI runtime's API, over the reference and over runtimes that are wrong in one way."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest

from npu_conformance.cts import control_flow, extensions, misuse, partitioning, random_calls, states
from npu_conformance.cts.lib.runtime import codes
from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.faults.fault import Fault, Variant
from npu_conformance.faults.runtime import boundary, conforming
from npu_conformance.harness.judge.api_executions import ExecutionState, MemoryState
from npu_conformance.harness.judge.api_handles import judge_handle
from npu_conformance.harness.judge.api_model import Code, CompilationState, ModelState
from npu_conformance.harness.judge.verdicts import Failed, NotApplicable
from npu_conformance.harness.nnapi.app import functions_of
from npu_conformance.harness.nnapi.machine_steps import STEPS
from npu_conformance.harness.run.applicability import inapplicable
from npu_conformance.harness.run.cases import MANDATORY, Case, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import Handle
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.versions import Version

FAULTY = "npu_conformance.faults.plugin:plugin"
CASES = {case.id: case for module in (misuse, states, random_calls) for case in module.cases()}
OF_DRIVERS = {case.id: case for module in (extensions, partitioning) for case in module.cases()}
ROWS = 341
"""Of the table of misuse that the cases of cts.misuse were written from."""


@pytest.fixture(scope="module")
def reference() -> Iterator[SubjectHandle]:
    subject = open_subject("reference", {}, isolation="inprocess")
    yield subject
    subject.close()


def run(case: Case, subject: SubjectHandle, scope: Scope = Scope.SMOKE) -> CaseContext:
    """Run a case, and clean up."""
    context = CaseContext(case, subject, seed=1, scope=scope)
    try:
        case.run(context)
    finally:
        context.close()
    return context


@pytest.mark.parametrize("fault", boundary.FAULTS, ids=lambda fault: fault.id)
def test_faults_at_the_boundary_are_seen(fault: Fault) -> None:
    with closing(open_subject(FAULTY, {"fault": fault.id}, isolation="inprocess")) as subject:
        for name in fault.caught_by:
            case = (CASES | OF_DRIVERS)[name]
            context = CaseContext(case, subject, seed=1)
            try:
                case.run(context)
            except Failed:
                continue
            finally:
                context.close()
            outcomes = {record.details.outcome for record in context.configurations.values()}
            assert Outcome.FAIL in outcomes, name


def test_a_negative_preference_may_be_refused_at_once() -> None:
    variant = "runtime-refuses-negative-preference"
    with closing(open_subject(FAULTY, {"fault": variant}, isolation="inprocess")) as subject:
        run(CASES["cts.misuse.compilation_set_preference.negative_preference"], subject)


def failure_of(case: str, subject: SubjectHandle) -> Failed:
    with pytest.raises(Failed) as caught:
        run(CASES[case], subject)
    return caught.value


def test_a_step_of_the_scene_that_fails_is_told_as_such(
    reference: SubjectHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference.interfaces.runtime, "model_finish", lambda model: ResultCode.NO_ERROR)
    failure = failure_of("cts.misuse.compilation_create.model_not_finished", reference)
    assert re.fullmatch(
        "while the scene was made, before the call that the case is about: "
        r"model_finish of a model whose output nothing writes: expected BAD_DATA \(4\), found NO_ERROR \(0\)",
        str(failure),
    )
    assert failure.about == ("FW-MDL-023",)


def test_a_failure_tells_the_arguments_of_the_call(reference: SubjectHandle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference.interfaces.runtime, "execution_set_input", lambda *_: ResultCode.NO_ERROR)
    failure = failure_of("cts.misuse.execution_set_input.index", reference)
    assert re.fullmatch(
        r"execution_set_input: expected BAD_DATA \(4\), found NO_ERROR \(0\); "
        r"called with execution \d+, index -?\d+, type null, buffer of byte \d+ of \d+, length 8",
        str(failure),
    )


def test_what_is_left_in_the_place_of_a_handle_is_told_in_words() -> None:
    with pytest.raises(Failed, match=r"expected null, found what was there: nothing was written$") as caught:
        judge_handle("execution_start_compute", ResultCode.BAD_DATA, {"event": True}, Handle(ResultCode.BAD_DATA))
    assert caught.value.about == ("FW-API-004",)


@pytest.mark.parametrize("variant", conforming.VARIANTS, ids=lambda variant: variant.id)
def test_variants_pass(variant: Variant) -> None:
    """A tenth of the cases, every tenth: the whole is run with the conforming variants."""
    passed = 0
    with closing(open_subject(FAULTY, {"fault": variant.id}, isolation="inprocess")) as subject:
        for case in list(CASES.values())[::10]:
            if not inapplicable(case, subject.manifest, subject.version):
                with suppress(NotApplicable):
                    run(case, subject)
                    passed += 1
    assert passed >= 10


def test_a_runtime_may_tell_the_other_one_of_two_mistakes() -> None:
    names = [name for name in CASES if name.startswith("cts.random_calls.api.of_a_compilation")]
    names += [name for name in CASES if name.startswith("cts.misuse.execution_add_extension_attribute.")]
    assert len(names) >= 8
    with closing(open_subject(FAULTY, {"fault": "runtime-other-order-of-checks"}, isolation="process")) as subject:
        for name in names:
            run(CASES[name], subject, Scope.DEFAULT)


def judged(result: int, *allowed: int, exact: bool = True) -> list[str]:
    """The quality warnings of a judged code. Raises Failed."""
    warnings: list[str] = []
    context = SimpleNamespace(manifest=SimpleNamespace(exact_result_codes=exact), warn_quality=warnings.append)
    codes.judge(cast(CaseContext, context), "f", result, *allowed)
    return warnings


def test_an_exact_code_passes_in_both_modes() -> None:
    assert judged(4, 4) == judged(4, 4, exact=False) == judged(0, 0, exact=False) == judged(5, 4, 5) == []


def test_another_failure_is_a_failure_or_a_warning() -> None:
    with pytest.raises(Failed, match=r"f: expected BAD_DATA \(4\), found OP_FAILED \(5\)"):
        judged(5, 4)
    assert judged(5, 4, exact=False) == ["f: OP_FAILED (5) in place of BAD_DATA (4)"]


@pytest.mark.parametrize(("result", "code"), [(0, 4), (4, 0), (15, 4), (-1, 3)])
def test_no_mode_takes_success_for_failure_nor_what_is_no_code(result: int, code: int) -> None:
    for exact in (True, False):
        with pytest.raises(Failed):
            judged(result, code, exact=exact)


def test_there_are_cases_for_all_rows_each_in_a_group_of_the_runtime() -> None:
    rows = [
        name for name in CASES if name.startswith("cts.misuse.") and ".freed_" not in name and ".foreign_" not in name
    ]
    assert len(rows) >= ROWS
    for name, case in CASES.items():
        assert case.interface == "runtime", name
        assert case.group in MANDATORY["runtime"], name
        assert case.requirements, name


def code_of(required: Code) -> int:
    """The code; -1 where it is open."""
    return -1 if required is None else required.code


def right_codes(required: Code) -> set[int]:
    """All codes that are right."""
    return set() if required is None else set(required.codes)


def test_of_two_mistakes_in_one_call_either_may_be_told() -> None:
    either = {ResultCode.BAD_DATA, ResultCode.BAD_STATE}
    ended = ModelState(["vector"], ended=True)
    execution = ExecutionState(CompilationState(_add(), is_explicit=False), Version.V1_3)
    execution.set_argument(0, "", 8)
    assert right_codes(ended.add_operand("no such type")) == right_codes(ended.set_value(9, bytes(8))) == either
    assert right_codes(CompilationState(ended, is_explicit=False, finished=True).set(of_one_device=True)) == either
    assert right_codes(execution.set_argument(0, "", 7)) == right_codes(execution.set_argument(0, "rank", 8)) == either
    assert right_codes(execution.query(in_range=False)) == right_codes(execution.duration(is_code=False)) == either


def _add() -> ModelState:
    model = ModelState(["vector", "vector", "scalar", "vector"])
    model.identify((0, 1), 3)
    return model


def test_of_one_mistake_the_code_is_its_own_and_a_requirement_may_order_two() -> None:
    ended = ModelState(["vector"], ended=True)
    started = ExecutionState(CompilationState(_add(), is_explicit=False), Version.V1_3, phase="completed")
    assert right_codes(ended.add_operand("vector")) == right_codes(started.set()) == {ResultCode.BAD_STATE}
    assert right_codes(started.set(of_one_device=True)) == {ResultCode.BAD_DATA}  # FW-EXE-009
    assert right_codes(started.refuse_burst()) == {ResultCode.BAD_DATA, ResultCode.BAD_STATE}


def test_a_spent_execution_depends_on_the_feature_level() -> None:
    for level, then in ((Version.V1_3, ResultCode.BAD_DATA), (Version.FL5, ResultCode.BAD_STATE)):
        execution = ExecutionState(CompilationState(ModelState(), is_explicit=False), level)
        assert [code_of(execution.compute()) for _ in range(2)] == [ResultCode.BAD_DATA, then]


def test_a_cycle_and_a_double_writer_make_a_model_invalid_for_ever() -> None:
    for operations in ([((0, 4, 2), 3), ((3, 1, 2), 4)], [((0, 1, 2), 3), ((1, 0, 2), 3)]):
        model = ModelState(["vector", "vector", "scalar", "vector", "vector"][: max(op[1] for op in operations) + 1])
        assert code_of(model.set_value(2, bytes(4))) == ResultCode.NO_ERROR
        for inputs, output in operations:
            assert code_of(model.add_operation(inputs, output)) == ResultCode.NO_ERROR
        assert code_of(model.identify((0, 1), operations[-1][1])) == ResultCode.NO_ERROR
        assert list(map(code_of, (model.finish(), model.finish(), model.add_operand("vector")))) == [4, 6, 6]


def test_a_failed_copy_takes_the_value() -> None:
    memory, other = MemoryState(8, initialised=True), MemoryState(64)
    assert code_of(other.copy_to(memory)) == code_of(memory.copy_to(MemoryState(8))) == ResultCode.BAD_DATA
    assert memory.copy_to(memory) is None


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("cts.random_calls.")])
def test_random_calls_agree_with_the_reference_and_are_the_same_each_time(
    name: str, reference: SubjectHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[list[Any]] = []
    drawn = random_calls._drawn

    def watched(*arguments: Any) -> Any:
        step = drawn(*arguments)
        made[-1].append(step)
        return step

    monkeypatch.setattr(random_calls, "_drawn", watched)
    for _ in range(2):
        made.append([])
        run(CASES[name], reference)
    assert made[0] == made[1]
    left_out = 6 if ".of_a_failing_driver." in name else 3  # of half as many sequences
    assert len({step.call for step in made[0]}) >= len(STEPS) - left_out


def test_what_random_calls_find_is_cut_down_and_replayed(reference: SubjectHandle) -> None:
    case = CASES["cts.random_calls.api.of_a_compilation"]
    with closing(open_subject(FAULTY, {"fault": "runtime-computed-twice"}, isolation="process")) as subject:
        context = CaseContext(case, subject, seed=1, scope=Scope.DEFAULT)
        with pytest.raises(Failed, match="compute: expected BAD_STATE") as caught:
            case.run(context)
        context.close()
        assert context.payload is not None
        payload = context.payload()
        assert str(caught.value).count("\n  ") <= 20
        again = random_calls.case_from(payload)
        with pytest.raises(Failed, match="compute: expected BAD_STATE"):
            run(again, subject)
    run(again, reference)


class _CountingRuntime(Runtime):
    """Counts how often it is asked for its functions."""

    asked = 0

    def functions(self) -> tuple[str, ...]:
        self.asked += 1
        return ("model_create",)


def test_a_runtime_is_asked_once_for_its_functions_and_its_successor_again() -> None:
    first, second = _CountingRuntime(), _CountingRuntime()
    for runtime in (first, first, second):
        assert functions_of(runtime) == {"model_create"}
    assert (first.asked, second.asked) == (1, 1)


def test_the_time_of_a_loop_is_not_that_of_its_compilation(
    reference: SubjectHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler for an NPU may take longer than the longest that a loop may run."""
    compiled: list[int] = []
    finish = RuntimeApp.finished_compilation

    def slow(app: RuntimeApp, *arguments: Any) -> int:
        compiled.append(found := finish(app, *arguments))
        return found

    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + 20 * len(compiled))
    monkeypatch.setattr(control_flow, "time", clock)
    monkeypatch.setattr(RuntimeApp, "finished_compilation", slow)
    for name in ("last_timeout_counts", "endless_is_aborted", "endless_on_cpu"):
        run(next(case for case in control_flow.cases() if case.id.endswith(f".{name}")), reference)
    assert len(compiled) == 4
