"""Legal calls on executions and events. Behind each the execution computes, or has computed, the right sum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from npu_conformance.cts.lib.runtime.fixture import ADDENDS, VECTOR_BYTES, RuntimeApp
from npu_conformance.cts.lib.runtime.legal.compilations import SECOND_NS, attribute, computes
from npu_conformance.cts.lib.runtime.legal.scene import MakeScene, Scene
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.specs.neuralnetworks.runtime.result_codes import DurationCode


def _create(app: RuntimeApp) -> Scene:
    compilation = app.finished_compilation()
    return Scene({"compilation": compilation, "execution": True}, lambda answer: computes(app, compilation))


def set_input(execution_of: Callable[[RuntimeApp], int] = RuntimeApp.execution) -> MakeScene:
    """Set the first input."""

    def scene(app: RuntimeApp) -> Scene:
        execution = execution_of(app)
        value = {"index": 0, "type": None, "buffer": place(app.memory, ADDENDS[0]), "length": VECTOR_BYTES}
        return Scene({"execution": execution, **value}, lambda answer: _rest_of_arguments(app, execution))

    return scene


def _rest_of_arguments(app: RuntimeApp, execution: int) -> None:
    """Set the second input and the output, and compute."""
    app.succeed("execution_set_input", execution, 1, None, place(app.memory, ADDENDS[1]), VECTOR_BYTES)
    app.set_output(execution)
    app.computes(execution)


def _set_input_from_memory(app: RuntimeApp) -> Scene:
    execution, (memory, _) = app.execution(), app.shared_memory(64, ADDENDS[0])
    value = {"index": 0, "type": None, "memory": memory, "offset": 0, "length": VECTOR_BYTES}
    return Scene({"execution": execution, **value}, lambda answer: _rest_of_arguments(app, execution))


def set_output(execution_of: Callable[[RuntimeApp], int] = RuntimeApp.execution) -> MakeScene:
    """Set the output."""

    def scene(app: RuntimeApp) -> Scene:
        execution = execution_of(app)
        app.set_inputs(execution)
        value = {"index": 0, "type": None, "buffer": app.output_of(execution), "length": VECTOR_BYTES}
        return Scene({"execution": execution, **value}, lambda answer: app.computes(execution))

    return scene


def _set_output_from_memory(app: RuntimeApp) -> Scene:
    execution, (memory, _) = app.execution(), app.shared_memory(64)
    app.set_inputs(execution)
    value = {"index": 0, "type": None, "memory": memory, "offset": 0, "length": VECTOR_BYTES}
    return Scene({"execution": execution, **value}, lambda answer: app.expect("compute", app.compute(execution)))


def _setter(explicit: bool = False, **arguments: Any) -> MakeScene:
    """Set something before the arguments. explicit: of an execution for one device."""

    def scene(app: RuntimeApp) -> Scene:
        compilation = app.finished_compilation(devices=(app.cpu(),) if explicit else ())
        execution = app.execution(compilation)

        def rest(answer: Any) -> None:
            app.set_inputs(execution)
            app.set_output(execution)
            app.computes(execution)

        return Scene({"execution": execution, **arguments}, rest)

    return scene


def _add_attribute(app: RuntimeApp) -> Scene:
    execution = app.ready_execution(app.finished_compilation(devices=(app.cpu(),)))
    return Scene({"execution": execution, **attribute(app)}, lambda answer: app.computes(execution))


def _compute(app: RuntimeApp) -> Scene:
    execution = app.ready_execution()
    return Scene({"execution": execution}, lambda answer: app.check_sum(execution))


def _start_compute(app: RuntimeApp) -> Scene:
    execution = app.ready_execution()
    return Scene({"execution": execution, "event": True}, lambda answer: _ends(app, execution, answer))


def _burst_compute(app: RuntimeApp) -> Scene:
    compilation = app.finished_compilation()
    execution, burst = app.ready_execution(compilation), app.made("burst_create", compilation, True)
    return Scene({"execution": execution, "burst": burst}, lambda answer: app.check_sum(execution))


def _start_with_dependencies(app: RuntimeApp) -> Scene:
    execution = app.ready_execution()
    dependencies = {"dependencies": (), "num_dependencies": 0, "duration": 0}
    return Scene({"execution": execution, **dependencies, "event": True}, lambda answer: _ends(app, execution, answer))


def _ends(app: RuntimeApp, execution: int, answer: Any) -> None:
    """Wait for an execution, and check the sum."""
    app.succeed("event_wait", app.owns("execution_start_compute", answer.handle))
    app.check_sum(execution)


def _output_query(out: str) -> MakeScene:
    def scene(app: RuntimeApp) -> Scene:
        return Scene({"execution": app.completed_execution(), "index": 0, out: True})

    return scene


def _get_duration(app: RuntimeApp) -> Scene:
    compilation = app.finished_compilation(devices=(app.cpu(),))
    execution = app.ready_execution(compilation)
    app.succeed("execution_set_measure_timing", execution, True)
    app.computes(execution)
    return Scene({"execution": execution, "duration_code": DurationCode.ON_HARDWARE, "duration": True})


def _event_wait(app: RuntimeApp) -> Scene:
    execution = app.ready_execution()
    return Scene({"event": app.started(execution)}, lambda answer: app.check_sum(execution))


def _create_from_fence(app: RuntimeApp) -> Scene:
    fence = app.context.fence()
    fence.signal()

    def rest(answer: Any) -> None:
        app.succeed("event_wait", app.owns("event_create_from_sync_fence_fd", answer.handle))

    return Scene({"fence": fence, "sync_fence_fd": -1, "event": True}, rest)


def _get_fence(app: RuntimeApp) -> Scene:
    fence = app.context.fence()
    fence.signal()
    event = app.made("event_create_from_sync_fence_fd", fence, -1, True)

    def rest(answer: Any) -> None:
        app.succeed("event_wait", event)

    return Scene({"event": event, "sync_fence_fd": True}, rest)


SCENES: Mapping[str, MakeScene] = {
    "execution_create": _create,
    "execution_set_input": set_input(),
    "execution_set_input_from_memory": _set_input_from_memory,
    "execution_set_output": set_output(),
    "execution_set_output_from_memory": _set_output_from_memory,
    "execution_set_measure_timing": _setter(explicit=True, measure=True),
    "execution_set_timeout": _setter(explicit=True, duration=3600 * SECOND_NS),
    "execution_set_loop_timeout": _setter(duration=SECOND_NS),
    "execution_enable_input_and_output_padding": _setter(enable=True),
    "execution_set_reusable": _setter(reusable=True),
    "execution_add_extension_attribute": _add_attribute,
    "execution_compute": _compute,
    "execution_start_compute": _start_compute,
    "execution_burst_compute": _burst_compute,
    "execution_start_compute_with_dependencies": _start_with_dependencies,
    "execution_get_output_operand_rank": _output_query("rank"),
    "execution_get_output_operand_dimensions": _output_query("dimensions"),
    "execution_get_duration": _get_duration,
    "event_wait": _event_wait,
    "event_create_from_sync_fence_fd": _create_from_fence,
    "event_get_sync_fence_fd": _get_fence,
}
