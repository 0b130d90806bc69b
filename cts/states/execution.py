"""Executions: in preparation, under way, completed well or not; and those that may compute again."""

from __future__ import annotations

import struct

from npu_conformance.cts.lib.runtime.fixture import SUM, VECTOR_BYTES, RuntimeApp
from npu_conformance.cts.lib.runtime.refusals import refuses
from npu_conformance.cts.lib.runtime.running import running, running_again
from npu_conformance.cts.lib.runtime.sums import failing_compilation
from npu_conformance.cts.lib.runtime.ways import WAYS, ways
from npu_conformance.cts.misuse.results import short_execution
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.result_codes import DurationCode, ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.states.execution", interface="runtime", group=Group.RUNTIME_EXECUTIONS)

_SETTERS = (
    "execution_set_input",
    "execution_set_output",
    "execution_set_input_from_memory",
    "execution_set_output_from_memory",
    "execution_set_loop_timeout",
    "execution_enable_input_and_output_padding",
    "execution_set_reusable",
)
_SETTERS_OF_ONE_DEVICE = (
    "execution_set_measure_timing",
    "execution_set_timeout",
    "execution_add_extension_attribute",
)
_COMPUTATIONS = ("execution_compute", "execution_start_compute", "execution_start_compute_with_dependencies")
_RESULTS = (
    "execution_get_output_operand_rank",
    "execution_get_output_operand_dimensions",
    "execution_get_duration",
)
_ONE_EACH_OF_LEVEL_3 = Version.V1_2


def _on_one_device(app: RuntimeApp) -> int:
    """A compilation for which every setter is legal."""
    return app.finished_compilation(devices=(app.cpu(),))


@cases.case("computes_once", "FW-EXE-002", "FW-EXE-011")
def computes_once(context: CaseContext) -> None:
    """An execution computes the right sum, and then no more."""
    app = RuntimeApp(context)
    execution = app.completed_execution()
    app.expect("compute", app.compute(execution), ResultCode.BAD_STATE)
    app.check_sum(execution)


@cases.case("omitted_is_set", "FW-EXE-004")
def omitted_is_set(context: CaseContext) -> None:
    """An input that was omitted has been set, and cannot be set again."""
    app = RuntimeApp(context)
    execution = app.execution(app.finished_compilation())
    app.succeed("execution_set_input", execution, 0, None, None, 0)
    pointer = app.memory.room(VECTOR_BYTES)
    app.refused("execution_set_input", ResultCode.BAD_STATE, execution, 0, None, pointer, VECTOR_BYTES)
    app.refused("execution_set_input", ResultCode.BAD_STATE, execution, 0, None, None, 0)


@cases.case("no_second_computation_of_any_kind", "FW-EXE-002")
def no_second_computation_of_any_kind(context: CaseContext) -> None:
    """Whichever way an execution has computed, no way computes it again."""
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    for first in ways(app.level):
        execution = app.ready_execution(compilation)
        app.expect(first, WAYS[first].compute(app, execution, compilation))
        app.check_sum(execution)
        app.memory.write(app.output_of(execution), bytes(VECTOR_BYTES))
        for second in ways(app.level):
            with context.configuration(f"{first}.{second}"):
                app.expect(second, WAYS[second].compute(app, execution, compilation), ResultCode.BAD_STATE)
                unchanged = app.memory.read(app.output_of(execution), VECTOR_BYTES)
                checks.equal(unchanged, bytes(VECTOR_BYTES), "output behind a computation that was refused")


@cases.case("completed_refuses_setters", "FW-EXE-002", "FW-EXE-003", "FW-EXE-008", since=_ONE_EACH_OF_LEVEL_3)
def completed_refuses_setters(context: CaseContext) -> None:
    """An execution that has succeeded refuses every setter."""
    app = RuntimeApp(context)
    execution = app.completed_execution(_on_one_device(app))
    refuses(app, (*_SETTERS, *_SETTERS_OF_ONE_DEVICE), "execution", execution, ResultCode.BAD_STATE)
    app.check_sum(execution)


@cases.case("failed_refuses_setters", "FW-EXE-002", since=Version.V1_2)
def failed_refuses_setters(context: CaseContext) -> None:
    """An execution whose output was too small refuses every setter and a second computation."""
    app = RuntimeApp(context)
    execution = short_execution(app)
    refuses(app, (*_SETTERS, *_COMPUTATIONS), "execution", execution, ResultCode.BAD_STATE)


@cases.case("running_refuses_setters", "FW-EXE-002", "FW-EXE-003", since=Version.V1_2)
def running_refuses_setters(context: CaseContext) -> None:
    """An execution that is under way refuses every setter and every computation, and ends as if nothing were."""
    with running(context) as under_way:
        refused = (*_SETTERS, *_COMPUTATIONS)
        refuses(under_way.app, refused, "execution", under_way.execution, ResultCode.BAD_STATE)


@cases.case("reusable_refuses_setters", "FW-EXE-003", since=Version.FL5)
def reusable_refuses_setters(context: CaseContext) -> None:
    """Between its computations a reusable execution refuses every setter, and computes again."""
    app = RuntimeApp(context)
    execution = app.ready_execution(_on_one_device(app))
    app.succeed("execution_set_reusable", execution, True)
    app.computes(execution)
    refuses(app, (*_SETTERS, *_SETTERS_OF_ONE_DEVICE), "execution", execution, ResultCode.BAD_STATE)
    app.memory.write(app.output_of(execution), bytes(VECTOR_BYTES))
    app.computes(execution)


@cases.case("reusable_results_while_running", "FW-EXE-017", "FW-EXE-019", "FW-EXE-003", since=Version.FL5)
def reusable_results_while_running(context: CaseContext) -> None:
    """While it computes again a reusable execution has no results, not those of the time before either: BAD_STATE."""
    with running_again(context) as under_way:
        for function in _RESULTS:
            under_way.app.refused(function, ResultCode.BAD_STATE, under_way.execution, 0, True)
    for function in _RESULTS:
        under_way.app.succeed(function, under_way.execution, 0, True)


@cases.case("reusable_without_argument", "FW-EXE-003", "FW-EXE-011", since=Version.FL5)
def reusable_without_argument(context: CaseContext) -> None:
    """A reusable execution that has begun without an argument is refused for ever: BAD_DATA, and no setter helps."""
    app = RuntimeApp(context)
    execution = app.execution()
    app.set_inputs(execution)
    app.succeed("execution_set_reusable", execution, True)
    for _ in range(2):
        app.refused("execution_compute", ResultCode.BAD_DATA, execution)
        output = app.output_of(execution)
        app.refused("execution_set_output", ResultCode.BAD_STATE, execution, 0, None, output, VECTOR_BYTES)


@cases.case("reusable_may_be_withdrawn", "FW-EXE-003", "FW-EXE-002", since=Version.FL5)
def reusable_may_be_withdrawn(context: CaseContext) -> None:
    """What is no longer to be reusable when it computes computes once."""
    app = RuntimeApp(context)
    execution = app.ready_execution()
    for reusable in (True, False):
        app.succeed("execution_set_reusable", execution, reusable)
    app.computes(execution)
    app.refused("execution_compute", ResultCode.BAD_STATE, execution)


@cases.case("reusable_in_every_way", "FW-EXE-003", since=Version.FL5)
def reusable_in_every_way(context: CaseContext) -> None:
    """A reusable execution computes in one way behind the other."""
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    execution = app.ready_execution(compilation)
    app.succeed("execution_set_reusable", execution, True)
    for way in (*ways(app.level), *reversed(ways(app.level))):
        app.memory.write(app.output_of(execution), bytes(VECTOR_BYTES))
        app.expect(way, WAYS[way].compute(app, execution, compilation))
        app.check_sum(execution)


@cases.case("results_may_be_asked_again", "FW-EXE-017", since=Version.V1_2)
def results_may_be_asked_again(context: CaseContext) -> None:
    """Rank and dimensions of an output can be asked as often as one likes, and stay the same."""
    app = RuntimeApp(context)
    execution = app.completed_execution()
    for _ in range(2):
        rank = app.succeed("execution_get_output_operand_rank", execution, 0, True)
        dimensions = app.succeed("execution_get_output_operand_dimensions", execution, 0, True)
        checks.equal((rank.value, dimensions.values), (1, (2,)), "rank and dimensions of the sum")


@cases.case("results_of_each_computation", "FW-EXE-017", "FW-EXE-019", "FW-EXE-003", since=Version.FL5)
def results_of_each_computation(context: CaseContext) -> None:
    """After a computation that has failed a reusable execution has no results, whatever it had before, or has then."""
    app = RuntimeApp(context)
    compilation = failing_compilation(app, (app.cpu(),))
    for way in ways(app.level):
        with context.configuration(way):
            execution, shape = app.execution(compilation), place(app.memory, bytes(4))
            data, output = place(app.memory, bytes(16)), place(app.memory, bytes(16))
            app.succeed("execution_set_input", execution, 0, None, data, 16)
            app.succeed("execution_set_input", execution, 1, None, shape, 4)
            app.succeed("execution_set_output", execution, 0, None, output, 16)
            app.succeed("execution_set_reusable", execution, True)
            app.succeed("execution_set_measure_timing", execution, True)
            for elements in (4, 3, 4, 3):
                app.memory.write(shape, struct.pack("<i", elements))
                code = WAYS[way].compute(app, execution, compilation)
                checks.equal(code == ResultCode.NO_ERROR, elements == 4, f"success with a shape of {elements} elements")
                _has_results(app, execution, (4,) if elements == 4 else None)


def _has_results(app: RuntimeApp, execution: int, dimensions: tuple[int, ...] | None) -> None:
    """The results can be asked; None for none."""
    code = ResultCode.BAD_STATE if dimensions is None else ResultCode.NO_ERROR
    for function, index in zip(_RESULTS, (0, 0, DurationCode.ON_HARDWARE), strict=True):
        app.refused(function, code, execution, index, True)
    if dimensions is not None:
        found = app.succeed("execution_get_output_operand_dimensions", execution, 0, True).values
        checks.equal(found, dimensions, "dimensions of the output")


@cases.case("freed_in_every_state", "FW-API-003")
def freed_in_every_state(context: CaseContext) -> None:
    """An execution is freed without arguments, with some, with all and completed, and disturbs no other."""
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    kept = app.ready_execution(compilation)
    partial = app.execution(compilation)
    app.set_inputs(partial)
    for execution in (app.execution(compilation), partial, app.ready_execution(compilation)):
        app.free(execution)
    app.free(app.completed_execution(compilation))
    app.computes(kept)


@cases.case("free_while_running", "FW-EXE-021")
def free_while_running(context: CaseContext) -> None:
    """To free an execution that is under way is ignored: it ends as if nothing were, and is still there."""
    with running(context) as under_way:
        under_way.app.free(under_way.execution)
    if under_way.succeeds:
        function = "execution_get_output_operand_rank"
        checks.equal(under_way.app.succeed(function, under_way.execution, 0, True).value, 1, "rank of the output")


@cases.case("executions_do_not_share_state", "FW-EXE-002")
def executions_do_not_share_state(context: CaseContext) -> None:
    """Executions of one compilation are spent each for itself."""
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    first, second = app.ready_execution(compilation), app.ready_execution(compilation)
    app.computes(first)
    checks.that(app.memory.read(app.output_of(second), VECTOR_BYTES) != SUM, "an execution has computed for another")
    app.computes(second)
