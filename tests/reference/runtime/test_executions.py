"""Executions, bursts and events of the reference runtime: states, arguments, results."""

from __future__ import annotations

import contextvars
import threading
from typing import Any

import pytest
from nnapi_app import OPEN_VECTOR, VECTOR, App, made, shapes, succeed
from patience import SECONDS

from npu_conformance.reference.runtime.backend import Outcome
from npu_conformance.reference.runtime.objects.burst import Burst
from npu_conformance.reference.runtime.objects.execution import Execution
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.fences import SettableFence
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL, Number, OperandDescription
from npu_conformance.specs.neuralnetworks.types import Timing
from npu_conformance.specs.versions import Version

BAD_DATA, BAD_STATE, OP_FAILED = ResultCode.BAD_DATA, ResultCode.BAD_STATE, ResultCode.OP_FAILED
OK, INSUFFICIENT, UNEXPECTED_NULL = (
    ResultCode.NO_ERROR,
    ResultCode.OUTPUT_INSUFFICIENT_SIZE,
    ResultCode.UNEXPECTED_NULL,
)
WAYS = pytest.mark.parametrize("way", ["compute", "start", "burst", "fenced"])


def compute(app: App, execution: int, way: str) -> int:
    """Compute in one of the ways; returns how it ended."""
    runtime = app.runtime
    if way == "compute":
        return runtime.execution_compute(execution)
    if way == "burst":
        found = runtime.handles.get(Execution, execution)
        return runtime.execution_burst_compute(execution, runtime.handles.add(Burst(found.compilation)))
    if way == "start":
        started = runtime.execution_start_compute(execution, True)
    else:
        started = runtime.execution_start_compute_with_dependencies(execution, None, 0, 0, True)
    if started.result != OK:
        assert started.handle == NULL
        return started.result
    result = runtime.event_wait(started.handle)
    runtime.event_free(started.handle)
    return result


@WAYS
def test_an_execution_computes_once(way: str) -> None:
    app = App()
    execution = app.execution()
    assert compute(app, execution, way) == OK
    for again in ("compute", "start", "burst", "fenced"):
        assert compute(app, execution, again) == BAD_STATE
    assert app.runtime.execution_set_loop_timeout(execution, 1) == BAD_STATE


@WAYS
def test_a_reusable_execution_computes_again(way: str) -> None:
    app = App()
    execution = app.execution(reusable=True)
    assert [compute(app, execution, way) for _ in range(3)] == [OK] * 3
    assert len(app.plan.executions) == 3


@WAYS
@pytest.mark.parametrize("level", [Version.V1_3, Version.FL5], ids=str)
def test_missing_arguments_spend_an_execution_from_feature_level_5_on(way: str, level: Version) -> None:
    app = App(level)
    execution = app.execution(arguments=False)
    assert compute(app, execution, way) == BAD_DATA
    is_spent = level >= Version.FL5
    result = app.runtime.execution_set_input(execution, 0, None, app.at(0), 8)
    assert result == (BAD_STATE if is_spent else OK)
    succeed_or_spent = [app.runtime.execution_set_input(execution, 1, None, app.at(0), 8)]
    succeed_or_spent.append(app.runtime.execution_set_output(execution, 0, None, app.at(0), 8))
    assert succeed_or_spent == [BAD_STATE if is_spent else OK] * 2
    assert compute(app, execution, way) == (BAD_STATE if is_spent else OK)


def test_nothing_is_allowed_while_a_computation_is_running() -> None:
    app = App()
    runtime, execution = app.runtime, app.execution(reusable=True)
    app.plan.go_on.clear()
    event = made(runtime.execution_start_compute(execution, True))
    assert app.plan.begun.acquire(timeout=SECONDS)
    for way in ("compute", "start", "burst", "fenced"):
        assert compute(app, execution, way) == BAD_STATE
    assert runtime.execution_set_input(execution, 0, None, app.at(0), 8) == BAD_STATE
    assert runtime.execution_get_output_operand_rank(execution, 0, True).result == BAD_STATE
    runtime.execution_free(execution)
    app.plan.go_on.set()
    assert runtime.event_wait(event) == OK
    assert runtime.execution_compute(execution) == OK, "a running execution is not freed"


def test_a_burst_in_use_is_bad_state() -> None:
    app = App()
    compilation = app.compilation()
    burst = made(app.runtime.burst_create(compilation, True))
    one, other = app.execution(compilation), app.execution(compilation)
    app.plan.go_on.clear()
    results: list[int] = []
    thread = threading.Thread(target=lambda: results.append(app.runtime.execution_burst_compute(one, burst)))
    thread.start()
    assert app.plan.begun.acquire(timeout=SECONDS)
    assert app.runtime.execution_burst_compute(other, burst) == BAD_STATE
    app.plan.go_on.set()
    thread.join()
    assert results == [OK]
    assert app.runtime.execution_burst_compute(other, burst) == OK, "it was not spent"
    assert app.runtime.execution_burst_compute(app.execution(), burst) == BAD_DATA
    app.runtime.burst_free(burst)
    assert app.backend.plans[0].burst.is_closed


def test_arguments() -> None:
    app = App()
    runtime, execution = app.runtime, app.execution(arguments=False)
    pointer, memory = app.at(0), app.app_memory(16)
    longer = OperandDescription(OperandType.TENSOR_FLOAT32, 1, (3,))
    huge = OperandDescription(OperandType.TENSOR_FLOAT32, 2, (2**16, 2**16))
    for setter, other in (
        (runtime.execution_set_input, runtime.execution_set_input_from_memory),
        (runtime.execution_set_output, runtime.execution_set_output_from_memory),
    ):
        assert setter(execution, 0, None, None, 8) == UNEXPECTED_NULL
        for index in (-1, 2, 999):
            assert setter(execution, index, None, pointer, 8) == BAD_DATA
            assert other(execution, index, None, memory, 0, 8) == BAD_DATA
        for length in (0, 7, 9):
            assert setter(execution, 0, None, pointer, length) == BAD_DATA
            assert other(execution, 0, None, memory, 0, length) == BAD_DATA
        for described in (longer, huge, OperandDescription(OperandType.TENSOR_FLOAT32, 1, None)):
            assert setter(execution, 0, described, pointer, 12) == BAD_DATA
            assert other(execution, 0, described, memory, 0, 12) == BAD_DATA
        assert other(execution, 0, None, memory, 12, 8) == BAD_DATA
        assert other(execution, 0, None, NULL, 0, 8) == UNEXPECTED_NULL
        succeed(setter(execution, 0, VECTOR, pointer, 8))
        assert setter(execution, 0, None, pointer, 8) == BAD_STATE
        assert other(execution, 0, None, memory, 0, 8) == BAD_STATE
        assert setter(execution, 0, None, pointer, 7) == BAD_STATE, "that it was set is looked at before the length"


def test_padding() -> None:
    app = App()
    runtime, execution = app.runtime, app.execution(arguments=False)
    succeed(runtime.execution_enable_input_and_output_padding(execution, True))
    assert runtime.execution_set_input(execution, 0, None, app.at(0), 7) == BAD_DATA
    for index in (0, 1):
        succeed(runtime.execution_set_input(execution, index, None, app.at(0), 12))
    assert runtime.execution_enable_input_and_output_padding(execution, False) == BAD_STATE
    succeed(runtime.execution_set_output_from_memory(execution, 0, None, app.app_memory(64), 8, 16))
    succeed(runtime.execution_compute(execution))
    inputs, outputs, _ = app.plan.executions[0]
    assert (inputs[0].offset, inputs[0].length, inputs[0].padding) == (0, 8, 4)
    assert (outputs[0].offset, outputs[0].length, outputs[0].padding) == (8, 8, 8)


def test_unknown_shapes() -> None:
    app = App()
    execution = app.execution(app.compilation(OPEN_VECTOR), arguments=False)
    runtime = app.runtime
    assert runtime.execution_set_input(execution, 0, None, app.at(0), 8) == BAD_DATA
    assert runtime.execution_set_input(execution, 0, OPEN_VECTOR, app.at(0), 8) == BAD_DATA
    succeed(runtime.execution_set_input(execution, 0, VECTOR, app.at(0), 8))
    succeed(runtime.execution_set_input(execution, 1, None, None, 0))
    succeed(runtime.execution_set_output(execution, 0, None, app.at(0), 100))
    assert runtime.execution_start_compute_with_dependencies(execution, (), 0, 0, True).result == BAD_DATA
    assert runtime.execution_compute(execution) == BAD_STATE


def test_output_shapes() -> None:
    app = App()
    compilation = app.compilation(OPEN_VECTOR)
    execution = app.runtime.execution_create(compilation, True).handle
    for index in (0, 1):
        succeed(app.runtime.execution_set_input(execution, index, VECTOR, app.at(0), 8))
    succeed(app.runtime.execution_set_output(execution, 0, None, app.at(0), 4))
    app.plan.outcome = Outcome(INSUFFICIENT, shapes((2,), sufficient=False))
    rank, dimensions = (
        app.runtime.execution_get_output_operand_rank,
        app.runtime.execution_get_output_operand_dimensions,
    )
    assert rank(execution, 0, True).result == dimensions(execution, 0, True).result == BAD_STATE
    assert app.runtime.execution_compute(execution) == INSUFFICIENT
    assert rank(execution, 0, True) == Number(INSUFFICIENT, 1)
    assert dimensions(execution, 0, True).values == (2,)
    assert rank(execution, -1, True).result == dimensions(execution, 999, True).result == BAD_DATA


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(OP_FAILED),
        Outcome(OK, shapes((3,))),
        Outcome(OK, shapes((2, 1))),
        Outcome(OK, shapes((2,), (2,))),
    ],
    ids=["failed", "other size", "other rank", "too many"],
)
def test_no_shapes_after_a_failure(outcome: Outcome) -> None:
    app = App()
    execution = app.execution()
    app.plan.outcome = outcome
    assert app.runtime.execution_compute(execution) == OP_FAILED
    assert app.runtime.execution_get_output_operand_rank(execution, 0, True).result == BAD_STATE


def test_a_scalar_has_no_dimensions() -> None:
    app = App()
    scalar = OperandDescription(OperandType.TENSOR_FLOAT32)
    compilation = app.compilation(scalar)
    execution = app.runtime.execution_create(compilation, True).handle
    for index in (0, 1):
        succeed(app.runtime.execution_set_input(execution, index, VECTOR, app.at(0), 8))
    succeed(app.runtime.execution_set_output(execution, 0, None, app.at(0), 8))
    succeed(app.runtime.execution_compute(execution))
    assert app.runtime.execution_get_output_operand_dimensions(execution, 0, True).result == BAD_DATA


def test_one_device_settings() -> None:
    app = App()
    runtime = app.runtime
    for devices in (0, 2):
        execution = app.execution(app.compilation(devices=devices))
        succeed(runtime.execution_compute(execution))
        assert runtime.execution_set_measure_timing(execution, True) == BAD_DATA
        assert runtime.execution_set_timeout(execution, 1) == BAD_DATA
        assert runtime.execution_add_extension_attribute(execution, "a.b", 1, None, 0) == BAD_DATA
        again = app.execution(app.compilation(devices=devices))
        started = runtime.execution_start_compute_with_dependencies(again, None, 0, 1, True)
        assert started.result == BAD_DATA


def test_durations() -> None:
    app = App()
    runtime, compilation = app.runtime, app.compilation(devices=1)
    execution, unmeasured = app.execution(compilation), app.execution(compilation)
    succeed(runtime.execution_set_measure_timing(execution, True))
    assert runtime.execution_get_duration(execution, 0, True).result == BAD_STATE
    app.plan.outcome = Outcome(OK, (), Timing(1, 2), Timing(3, 4))
    succeed(runtime.execution_compute(execution))
    assert [runtime.execution_get_duration(execution, code, True).value for code in range(4)] == [1, 2, 3, 4]
    succeed(runtime.execution_compute(unmeasured))
    assert runtime.execution_get_duration(unmeasured, 0, True) == Number(BAD_STATE, 2**64 - 1)
    assert app.plan.executions[0][2].measure_timing
    assert not app.plan.executions[1][2].measure_timing


def test_the_loop_timeout_is_lowered_to_the_maximum() -> None:
    app = App()
    execution = app.execution()
    succeed(app.runtime.execution_set_loop_timeout(execution, 2**64 - 1))
    succeed(app.runtime.execution_compute(execution))
    assert app.plan.executions[0][2].loop_timeout_ns == 15_000_000_000


def test_dependencies() -> None:
    app = App()
    runtime, fence = app.runtime, SettableFence()
    event = made(runtime.event_create_from_sync_fence_fd(fence, 5, True))
    start = runtime.execution_start_compute_with_dependencies
    execution = app.execution()
    assert start(execution, None, 1, 0, True).result == UNEXPECTED_NULL
    assert start(execution, (event, NULL), 2, 0, True).result == UNEXPECTED_NULL
    assert start(execution, (event,), 1, 0, False).result == UNEXPECTED_NULL
    app.plan.fence = driver = SettableFence()
    started = made(start(execution, (event,), 1, 0, True))
    assert runtime.event_get_sync_fence_fd(started, True).fence is driver
    assert runtime.execution_compute(execution) == BAD_STATE
    assert runtime.execution_get_output_operand_rank(execution, 0, True).result == BAD_STATE
    driver.signal()
    assert runtime.event_wait(started) == runtime.event_wait(started) == OK
    assert runtime.execution_get_output_operand_rank(execution, 0, True) == Number(OK, 1)


def test_a_failed_dependency_without_fence_fails_the_execution() -> None:
    app = App()
    runtime, first = app.runtime, app.execution()
    app.plan.outcome = Outcome(OP_FAILED)
    event = made(runtime.execution_start_compute(first, True))
    second = app.execution()
    assert runtime.execution_start_compute_with_dependencies(second, (event,), 1, 0, True).result == OP_FAILED
    assert runtime.execution_compute(second) == BAD_STATE


@pytest.mark.parametrize(("level", "result"), [(Version.V1_3, OP_FAILED), (Version.FL5, BAD_DATA)])
def test_events_without_a_fence(level: Version, result: ResultCode) -> None:
    app = App(level)
    event = made(app.runtime.execution_start_compute(app.execution(), True))
    assert app.runtime.event_get_sync_fence_fd(event, True).result == result
    failed = SettableFence()
    failed.fail()
    fenced = made(app.runtime.event_create_from_sync_fence_fd(failed, 3, True))
    assert app.runtime.event_wait(fenced) == OP_FAILED


def test_computations_in_the_caller_s_thread() -> None:
    app = App()
    app.properties["debug.nn.syncexec-runtime"] = "1"
    app.runtime.event_wait(made(app.runtime.execution_start_compute(app.execution(), True)))
    assert len(app.plan.executions) == 1


def test_a_started_computation_calls_drivers_for_whom_started_it(monkeypatch: pytest.MonkeyPatch) -> None:
    app = App()
    caller, seen = contextvars.ContextVar("caller", default=0), list[int]()
    execution, compute_plainly = app.execution(), app.plan.execute

    def execute(*arguments: Any) -> Outcome:
        seen.append(caller.get())
        return compute_plainly(*arguments)

    monkeypatch.setattr(app.plan, "execute", execute)
    caller.set(7)
    succeed(app.runtime.event_wait(made(app.runtime.execution_start_compute(execution, True))))
    assert seen == [7]


@pytest.mark.parametrize("way", ["compute", "burst", "fenced"])
def test_a_computation_has_ended_whatever_went_wrong(
    way: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    app = App()
    execution = app.execution()

    def broken(*_: Any) -> Outcome:
        raise ValueError("an engine that is broken")

    monkeypatch.setattr(app.plan, "execute", broken)
    monkeypatch.setattr(app.plan, "start", broken)
    assert compute(app, execution, way) == OP_FAILED
    assert "an engine that is broken" in capsys.readouterr().err
    assert not app.runtime.handles.get(Execution, execution).is_running
    assert compute(app, execution, "compute") == BAD_STATE
