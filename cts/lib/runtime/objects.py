"""Objects in a state in which calls are refused, and how to see that they are still in it."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.legal import compilations, memories, models
from npu_conformance.cts.lib.runtime.misuse import Object
from npu_conformance.harness.judge import checks
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode


def is_building(app: RuntimeApp, model: int) -> None:
    """The model of an ADD can still be finished."""
    models.finish(app, model)


def is_invalid(app: RuntimeApp, model: int) -> None:
    """The model cannot be finished again."""
    with checks.about("FW-MDL-025"):
        app.expect("model_finish once more", app.call("model_finish", model), ResultCode.BAD_STATE)


def has_failed(app: RuntimeApp, compilation: int) -> None:
    """The compilation cannot be finished again, nor used."""
    app.refused("compilation_finish", ResultCode.BAD_STATE, compilation)
    app.refused("execution_create", ResultCode.BAD_STATE, compilation, True)


def is_spent(app: RuntimeApp, execution: int) -> None:
    """The execution has computed the right sum, and does not compute again."""
    app.check_sum(execution)
    app.expect("compute", app.compute(execution), ResultCode.BAD_STATE)


def memory_of_pixels(app: RuntimeApp) -> int:
    """A memory object of a hardware buffer that is no BLOB: only usable as a whole."""
    pool = app.context.pool(64, "hardware_buffer")
    return app.made("memory_create_from_a_hardware_buffer", pool.memory, True)


BUILDING_MODEL = Object(RuntimeApp.building_model, is_building)
FINISHED_MODEL = Object(RuntimeApp.finished_model, models.computes)
INVALID_MODEL = Object(RuntimeApp.invalid_model, is_invalid)
BUILDING_COMPILATION = Object(RuntimeApp.compilation, compilations.finish)
FINISHED_COMPILATION = Object(RuntimeApp.finished_compilation, compilations.computes)
FAILED_COMPILATION = Object(RuntimeApp.failed_compilation, has_failed)
FINISHED_COMPILATION_FOR_CPU = Object(lambda app: app.finished_compilation(devices=(app.cpu(),)), compilations.computes)
COMPLETED_EXECUTION = Object(RuntimeApp.completed_execution, is_spent)
COMPLETED_EXECUTION_ON_CPU = Object(
    lambda app: app.completed_execution(app.finished_compilation(devices=(app.cpu(),))), is_spent
)
BUILDING_DESCRIPTOR = Object(RuntimeApp.descriptor, memories.finish)
FINISHED_DESCRIPTOR = Object(RuntimeApp.finished_descriptor, memories.allocates)
TWICE = (
    {"devices": Object(lambda app: (app.cpu(), app.cpu()))},
    {"devices": Object(lambda app: (*app.devices(), app.devices()[0]))},
)
"""Lists of devices in which one is named twice: in a row, and with others between."""
