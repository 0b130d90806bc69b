"""What is asked of an execution that is not over, has failed, or does not have it; events."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.cts.lib.runtime.fixture import ACTIVATION, VECTOR, VECTOR_BYTES, RuntimeApp
from npu_conformance.cts.lib.runtime.misuse import BAD_DATA, BAD_STATE, Misuses, Object, misuses_of_executions
from npu_conformance.cts.lib.runtime.running import running
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.nnapi.app import UNKNOWN_DIMENSION
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import Case, CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import UNAVAILABLE_DURATION, DurationCode, ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription
from npu_conformance.specs.versions import HIDL_LAST, Version

_own = CaseGroup("cts.misuse", interface="runtime", group=Group.RUNTIME_EXECUTIONS)
_DURATIONS = tuple(DurationCode)
_INDEXES = ({"index": -1}, {"index": 1}, {"index": 999})


def failed_execution(app: RuntimeApp) -> int:
    """An execution that has failed otherwise than for want of space: its input was never written."""
    if app.level < Version.V1_3:
        raise NotApplicable("memory from descriptors, which is how an execution surely fails: since 1.3")
    compilation = app.finished_compilation()
    execution, memory = app.execution(compilation), app.described_memory(compilation)
    app.succeed("execution_set_input_from_memory", execution, 0, None, memory, 0, 0)
    app.succeed("execution_set_input", execution, 1, None, place(app.memory, bytes(VECTOR_BYTES)), VECTOR_BYTES)
    app.set_output(execution)
    app.expect("execution_compute", app.compute(execution), ResultCode.OP_FAILED)
    return execution


def short_execution(app: RuntimeApp) -> int:
    """An execution that has failed since its output has room for one float of two."""
    compilation = app.finished_compilation(app.finished_model(output=UNKNOWN_DIMENSION))
    execution = app.execution(compilation)
    app.set_inputs(execution)
    app.succeed("execution_set_output", execution, 0, None, app.output_of(execution), 4)
    app.expect("execution_compute", app.compute(execution), ResultCode.OUTPUT_INSUFFICIENT_SIZE)
    return execution


def _scalar_execution(app: RuntimeApp) -> int:
    """A completed execution whose output is a scalar: the rank of a vector."""
    model = app.empty_model()
    for described in (VECTOR, OperandDescription(OperandType.INT32)):
        app.succeed("model_add_operand", model, described)
    app.succeed("model_add_operation", model, OperationType.RANK, (0,), (1,))
    app.succeed("model_identify_inputs_and_outputs", model, (0,), (1,))
    app.succeed("model_finish", model)
    execution = app.execution(app.finished_compilation(model))
    app.succeed("execution_set_input", execution, 0, None, place(app.memory, bytes(VECTOR_BYTES)), VECTOR_BYTES)
    app.succeed("execution_set_output", execution, 0, None, app.output_of(execution), 4)
    app.expect("execution_compute", app.compute(execution))
    return execution


def _output_queries() -> Iterator[Misuses]:
    for function, out in (
        ("execution_get_output_operand_rank", "rank"),
        ("execution_get_output_operand_dimensions", "dimensions"),
    ):
        table = misuses_of_executions(function, "FW-EXE-017")
        table.null("execution", out)
        table.row(
            "before_computation", BAD_STATE, {"execution": Object(RuntimeApp.ready_execution, RuntimeApp.computes)}
        )
        table.row("index", BAD_DATA, *_INDEXES, of="FW-EXE-004")
        table.row("after_failure", BAD_STATE, {"execution": Object(failed_execution)})
        yield table


@_own.case("execution_get_output_operand_rank.during_computation", "FW-EXE-017", since=Version.V1_2)
def rank_during_computation(context: CaseContext) -> None:
    """While the computation runs there is no rank: BAD_STATE, and it goes on."""
    with running(context) as under_way:
        under_way.app.refused("execution_get_output_operand_rank", BAD_STATE, under_way.execution, 0, True)


@_own.case("execution_get_output_operand_dimensions.during_computation", "FW-EXE-017", since=Version.V1_2)
def dimensions_during_computation(context: CaseContext) -> None:
    """While the computation runs there are no dimensions: BAD_STATE, and it goes on."""
    with running(context) as under_way:
        under_way.app.refused("execution_get_output_operand_dimensions", BAD_STATE, under_way.execution, 0, True)


@_own.case("execution_get_output_operand_rank.output_too_small", "FW-EXE-018", since=Version.V1_2)
def rank_of_small_output(context: CaseContext) -> None:
    """The rank of an output that did not fit comes with OUTPUT_INSUFFICIENT_SIZE, each time."""
    app = RuntimeApp(context)
    execution = short_execution(app)
    for _ in range(2):
        answer = app.refused(
            "execution_get_output_operand_rank", ResultCode.OUTPUT_INSUFFICIENT_SIZE, execution, 0, True
        )
        checks.equal(answer.value, 1, "rank of an output that did not fit")


@_own.case("execution_get_output_operand_dimensions.output_too_small", "FW-EXE-018", since=Version.V1_2)
def dimensions_of_small_output(context: CaseContext) -> None:
    """The dimensions of an output that did not fit come with OUTPUT_INSUFFICIENT_SIZE: those needed, 0 for unknown."""
    app = RuntimeApp(context)
    answer = app.refused(
        "execution_get_output_operand_dimensions",
        ResultCode.OUTPUT_INSUFFICIENT_SIZE,
        short_execution(app),
        0,
        True,
    )
    checks.member(answer.values, ((2,), (0,)), "dimensions of an output that did not fit")


@_own.case("execution_get_output_operand_rank.another_output_too_small", "FW-EXE-018", since=Version.V1_2)
def rank_beside_small_output(context: CaseContext) -> None:
    """Where one output did not fit, an earlier one that did has its rank and dimensions with NO_ERROR."""
    app = RuntimeApp(context)
    execution = _half_short_execution(app)
    rank = app.succeed("execution_get_output_operand_rank", execution, 0, True)
    dimensions = app.succeed("execution_get_output_operand_dimensions", execution, 0, True)
    checks.equal((rank.value, dimensions.values), (1, (2,)), "rank and dimensions of the output that did fit")
    short = ResultCode.OUTPUT_INSUFFICIENT_SIZE
    app.refused("execution_get_output_operand_rank", short, execution, 1, True)


def _half_short_execution(app: RuntimeApp) -> int:
    """An execution with two outputs, the first with room enough, the second, which is computed of it, without."""
    model = app.empty_model()
    for described in (VECTOR, VECTOR, ACTIVATION, UNKNOWN_DIMENSION, UNKNOWN_DIMENSION):
        app.succeed("model_add_operand", model, described)
    app.succeed("model_set_operand_value", model, 2, place(app.memory, bytes(4)), 4)
    app.succeed("model_add_operation", model, OperationType.ADD, (0, 1, 2), (3,))
    app.succeed("model_add_operation", model, OperationType.ADD, (3, 1, 2), (4,))
    app.succeed("model_identify_inputs_and_outputs", model, (0, 1), (3, 4))
    app.succeed("model_finish", model)
    execution = app.execution(app.finished_compilation(model))
    app.set_inputs(execution)
    app.set_output(execution)
    app.succeed("execution_set_output", execution, 1, None, app.memory.room(4), 4)
    app.expect("execution_compute", app.compute(execution), ResultCode.OUTPUT_INSUFFICIENT_SIZE)
    return execution


def _get_duration() -> Misuses:
    table = misuses_of_executions("execution_get_duration", "FW-EXE-019")
    table.null("execution", "duration")
    table.row("code", BAD_DATA, {"duration_code": 4}, {"duration_code": -1}, of="FW-EXE-019")
    return table


def _without_duration(app: RuntimeApp, execution: int) -> None:
    for code in _DURATIONS[: 4 if app.level >= Version.V1_3 else 2]:
        answer = app.refused("execution_get_duration", BAD_STATE, execution, code, True)
        checks.equal(answer.value, UNAVAILABLE_DURATION, f"duration {code.name} where there is none")


def _measured(app: RuntimeApp) -> int:
    """An execution whose durations are to be measured."""
    execution = app.ready_execution(app.finished_compilation(devices=(app.cpu(),)))
    app.succeed("execution_set_measure_timing", execution, True)
    return execution


@_own.case("execution_get_duration.before_computation", "FW-EXE-019", since=Version.V1_2)
def duration_before_computation(context: CaseContext) -> None:
    """Before the computation there is no duration: BAD_STATE and the largest number; the execution still computes."""
    app = RuntimeApp(context)
    execution = _measured(app)
    _without_duration(app, execution)
    app.computes(execution)


@_own.case("execution_get_duration.timing_off", "FW-EXE-019", since=Version.V1_2)
def duration_without_timing(context: CaseContext) -> None:
    """Where nothing was to be measured there is no duration: BAD_STATE and the largest number."""
    app = RuntimeApp(context)
    _without_duration(app, app.completed_execution())
    switched_off = _measured(app)
    app.succeed("execution_set_measure_timing", switched_off, False)
    app.computes(switched_off)
    _without_duration(app, switched_off)


@_own.case("execution_get_duration.after_failure", "FW-EXE-019", since=Version.V1_2)
def duration_after_failure(context: CaseContext) -> None:
    """After a failure there is no duration: BAD_STATE and the largest number."""
    app = RuntimeApp(context)
    compilation = app.finished_compilation(app.finished_model(output=UNKNOWN_DIMENSION), (app.cpu(),))
    execution = app.execution(compilation)
    app.set_inputs(execution)
    app.succeed("execution_set_output", execution, 0, None, app.output_of(execution), 4)
    app.succeed("execution_set_measure_timing", execution, True)
    app.expect("execution_compute", app.compute(execution), ResultCode.OUTPUT_INSUFFICIENT_SIZE)
    _without_duration(app, execution)


@_own.case("execution_get_duration.during_computation", "FW-EXE-019", since=Version.V1_2)
def duration_during_computation(context: CaseContext) -> None:
    """While the computation runs there is no duration: BAD_STATE and the largest number."""
    with running(context) as under_way:
        _without_duration(under_way.app, under_way.execution)


def _events() -> Iterator[Misuses]:
    wait = misuses_of_executions("event_wait", "FW-EXE-013")
    wait.null("event")
    yield wait
    create = misuses_of_executions("event_create_from_sync_fence_fd", "FW-EXE-025")
    create.null("event")
    create.row("descriptor", BAD_DATA, *({"fence": None, "sync_fence_fd": each} for each in (-1, 0, -(2**31))))
    yield create
    get = misuses_of_executions("event_get_sync_fence_fd", "FW-EXE-024")
    get.null("event", "sync_fence_fd")
    yield get


def _without_fence(context: CaseContext, *codes: int) -> None:
    """An event of an ordinary computation has no fence, before and after it was waited for."""
    app = RuntimeApp(context)
    execution = app.ready_execution()
    event = app.started(execution)
    for _ in range(2):
        answer = app.call("event_get_sync_fence_fd", event, True)
        app.expect("event_get_sync_fence_fd", answer.result, *codes)
        checks.equal(answer.fence, None, "fence of an event that has none")
        app.succeed("event_wait", event)
    app.check_sum(execution)


@_own.case("event_get_sync_fence_fd.no_fence_level_4", "FW-EXE-024", since=Version.V1_3, until=HIDL_LAST)
def no_fence_at_level_4(context: CaseContext) -> None:
    """An event without a fence: BAD_DATA by the header, OP_FAILED of AOSP's runtime of level 4, and no descriptor."""
    _without_fence(context, BAD_DATA, ResultCode.OP_FAILED)


@_own.case("event_get_sync_fence_fd.no_fence", "FW-EXE-024", since=Version.FL5)
def no_fence(context: CaseContext) -> None:
    """An event without a fence: BAD_DATA, and no descriptor."""
    _without_fence(context, BAD_DATA)


@_own.case("execution_get_output_operand_dimensions.scalar_output", "FW-EXE-017", since=Version.V1_3)
def dimensions_of_scalar(context: CaseContext) -> None:
    """A scalar has no dimensions: BAD_DATA. Only RANK writes one."""
    app = RuntimeApp(context)
    execution = _scalar_execution(app)
    app.refused("execution_get_output_operand_dimensions", BAD_DATA, execution, 0, True)
    rank = app.succeed("execution_get_output_operand_rank", execution, 0, True)
    checks.equal(rank.value, 0, "rank of a scalar output")


def cases() -> Iterator[Case]:
    """All cases."""
    yield from _own()
    for table in (*_output_queries(), _get_duration(), *_events()):
        yield from table
