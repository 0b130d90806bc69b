"""Computations that cannot start, whichever way they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

from npu_conformance.cts.lib.runtime.fixture import VECTOR_BYTES, RuntimeApp
from npu_conformance.cts.lib.runtime.legal.compilations import SECOND_NS
from npu_conformance.cts.lib.runtime.misuse import BAD_DATA, BAD_STATE, UNEXPECTED_NULL, Misuses, Object
from npu_conformance.cts.lib.runtime.running import Blocker, running
from npu_conformance.cts.lib.runtime.ways import WAYS, Compute
from npu_conformance.harness.judge.api_handles import judge_nulled
from npu_conformance.harness.nnapi.app import UNKNOWN_DIMENSION
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import Case, CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL
from npu_conformance.specs.versions import NEWEST, OLDEST, Version

_own = CaseGroup("cts.misuse", interface="runtime", group=Group.RUNTIME_EXECUTIONS)


def _missing(app: RuntimeApp, compilation: int) -> Iterator[tuple[int, Callable[[int], None]]]:
    """Executions that lack an argument, and what sets it: the output, then an input."""
    lacks_output = app.execution(compilation)
    app.set_inputs(lacks_output)
    yield lacks_output, app.set_output
    lacks_inputs = app.execution(compilation)
    app.set_output(lacks_inputs)
    yield lacks_inputs, app.set_inputs


def _unset(compute: Compute, function: str, context: CaseContext) -> None:
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    for execution, _ in _missing(app, compilation):
        app.expect(function, compute(app, execution, compilation), BAD_DATA)
    app.expect(function, compute(app, app.execution(compilation), compilation), BAD_DATA)


def _set_later(compute: Compute, function: str, context: CaseContext) -> None:
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    for execution, set_missing in _missing(app, compilation):
        app.expect(function, compute(app, execution, compilation), BAD_DATA)
        set_missing(execution)
        app.expect(function, compute(app, execution, compilation))
        app.check_sum(execution)


def _spent(compute: Compute, function: str, context: CaseContext) -> None:
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    for execution, _ in _missing(app, compilation):
        app.expect(function, compute(app, execution, compilation), BAD_DATA)
        app.expect(function, compute(app, execution, compilation), BAD_STATE)
        output = app.output_of(execution)
        app.refused("execution_set_output", BAD_STATE, execution, 0, None, output, VECTOR_BYTES)
        app.refused("execution_set_input", BAD_STATE, execution, 0, None, output, VECTOR_BYTES)


def _second(compute: Compute, function: str, context: CaseContext) -> None:
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    execution = app.ready_execution(compilation)
    app.computes(execution)
    app.expect(function, compute(app, execution, compilation), BAD_STATE)
    app.check_sum(execution)


def _reusable(compute: Compute, function: str, context: CaseContext) -> None:
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    execution = app.ready_execution(compilation)
    app.succeed("execution_set_reusable", execution, True)
    for _ in range(3):
        app.memory.write(app.output_of(execution), bytes(VECTOR_BYTES))
        app.expect(function, compute(app, execution, compilation))
        app.check_sum(execution)


def _running(compute: Compute, function: str, context: CaseContext) -> None:
    reusable = context.manifest.feature_level >= Version.FL5
    with running(context, reusable=reusable) as under_way:
        result = compute(under_way.app, under_way.execution, under_way.compilation)
        under_way.app.expect(function, result, BAD_STATE)


_Run = Callable[[Compute, str, CaseContext], None]
_SHARED: tuple[tuple[str, str, str, Version, Version, _Run], ...] = (
    ("argument_unset", "BAD_DATA", "FW-EXE-011", OLDEST, NEWEST, _unset),
    ("argument_set_later", "the second succeeds", "FW-EXE-011", OLDEST, Version.V1_3, _set_later),
    ("spent_by_unset_argument", "every later call BAD_STATE", "FW-EXE-002 FW-EXE-011", Version.FL5, NEWEST, _spent),
    ("second_computation", "BAD_STATE", "FW-EXE-002", OLDEST, NEWEST, _second),
    ("second_computation_reusable", "succeeds", "FW-EXE-003", Version.FL5, NEWEST, _reusable),
    ("while_running", "BAD_STATE, and the first goes on", "FW-EXE-002 FW-EXE-003", OLDEST, NEWEST, _running),
)
"""Name, what happens, requirements, versions, and the case of every way to compute."""


_FUNCTIONS = {
    "execution_compute": "compute",
    "execution_start_compute": "asynchronous",
    "execution_burst_compute": "burst",
    "execution_start_compute_with_dependencies": "fenced",
}
"""The function behind each of the ways to compute."""


def _shared() -> Iterator[Case]:
    for function, way in _FUNCTIONS.items():
        for name, outcome, requirements, since, until, run in _SHARED:
            yield Case(
                f"cts.misuse.{function}.{name}",
                partial(run, WAYS[way].compute, function),
                tuple(requirements.split()),
                f"{function}, {name.replace('_', ' ')}: {outcome}.",
                "runtime",
                max(since, describe(Runtime)[function].mark.since),
                until,
                Group.RUNTIME_EXECUTIONS,
            )


@_own.case("execution_compute.uninitialised_memory", "FW-MEM-004", since=Version.V1_3)
def uninitialised_memory(context: CaseContext) -> None:
    """Memory from a descriptor to which nothing was written is no input: OP_FAILED."""
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    execution, memory = app.execution(compilation), app.described_memory(compilation)
    app.succeed("execution_set_input_from_memory", execution, 0, None, memory, 0, 0)
    app.succeed("execution_set_input", execution, 1, None, place(app.memory, bytes(VECTOR_BYTES)), VECTOR_BYTES)
    app.set_output(execution)
    app.refused("execution_compute", ResultCode.OP_FAILED, execution)


@_own.case("execution_start_compute.event_of_failure", "FW-EXE-012", "FW-API-004")
def event_of_failure(context: CaseContext) -> None:
    """A computation that does not start leaves a null event, whatever is wrong."""
    app = RuntimeApp(context)
    functions: list[tuple[str, tuple[object, ...]]] = [("execution_start_compute", ())]
    if app.level >= Version.V1_3:
        functions.append(("execution_start_compute_with_dependencies", ((), 0, 0)))
    for function, arguments in functions:
        for execution, code in ((app.execution(), BAD_DATA), (app.completed_execution(), BAD_STATE)):
            answer = app.refused(function, code, execution, *arguments, True)
            judge_nulled(function, answer.handle)


@_own.case("execution_burst_compute.burst_in_use", "FW-EXE-015", since=Version.V1_2)
def burst_in_use(context: CaseContext) -> None:
    """A burst computes one execution at a time: BAD_STATE for a second one, and the first goes on."""
    blocker = Blocker(context)
    app = RuntimeApp(context)
    compilation = app.finished_compilation(devices=(blocker.device(app),))
    burst = app.made("burst_create", compilation, True)
    executions = [app.ready_execution(compilation) for _ in range(2)]

    def compute(execution: int) -> int:
        """The driver holds one; that the other has returned sets it free."""
        result = app.call("execution_burst_compute", execution, burst)
        blocker.release()
        return int(result)

    results = context.run_concurrently([partial(compute, execution) for execution in executions])
    for result in results:
        if isinstance(result, Exception):
            raise result
    first = results.index(ResultCode.NO_ERROR) if ResultCode.NO_ERROR in results else 0
    for number, code in ((first, ResultCode.NO_ERROR), (1 - first, BAD_STATE)):
        app.expect("execution_burst_compute", cast(int, results[number]), code)
    app.check_sum(executions[first])


@_own.case("execution_burst_compute.burst_of_another_compilation", "FW-EXE-014", since=Version.V1_2)
def burst_of_another_compilation(context: CaseContext) -> None:
    """A burst of another compilation, be it of the same model, is refused: BAD_DATA, and no effect."""
    app = RuntimeApp(context)
    model = app.finished_model()
    compilation, same, other = (app.finished_compilation(each) for each in (model, model, app.finished_model()))
    execution, burst = app.ready_execution(compilation), app.made("burst_create", compilation, True)
    for foreign in (same, other):
        app.refused("execution_burst_compute", BAD_DATA, execution, app.made("burst_create", foreign, True))
    app.succeed("execution_burst_compute", execution, burst)
    app.check_sum(execution)


def _nulls(function: str, *parameters: str) -> Misuses:
    table = Misuses(function, group=Group.RUNTIME_EXECUTIONS)
    table.null(*parameters)
    return table


def _unknown_output(app: RuntimeApp) -> int:
    """An execution whose output has no known length."""
    compilation = app.finished_compilation(app.finished_model(output=UNKNOWN_DIMENSION))
    return app.ready_execution(compilation)


def _with_dependencies() -> Misuses:
    table = _nulls("execution_start_compute_with_dependencies", "execution", "event")
    table.row("null_dependencies", UNEXPECTED_NULL, {"dependencies": None, "num_dependencies": 1}, of="FW-API-001")
    none = {"dependencies": None, "num_dependencies": 0}
    table.row("null_of_0_dependencies", ResultCode.NO_ERROR, none, of="FW-API-001 FW-EXE-023")
    null_element = {"dependencies": (NULL,), "num_dependencies": 1}
    table.row("null_dependency", UNEXPECTED_NULL, null_element, of="FW-API-001")
    table.row("duration_without_one_device", BAD_DATA, {"duration": SECOND_NS}, of="FW-EXE-009")
    table.row("unknown_output", BAD_DATA, {"execution": Object(_unknown_output)}, of="FW-EXE-022")
    return table


def cases() -> Iterator[Case]:
    """All cases."""
    yield from _own()
    yield from _shared()
    for table in (
        _nulls("execution_compute", "execution"),
        _nulls("execution_start_compute", "execution", "event"),
        _nulls("execution_burst_compute", "execution", "burst"),
        _with_dependencies(),
    ):
        yield from table
