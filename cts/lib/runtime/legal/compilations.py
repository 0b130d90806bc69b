"""Legal calls on compilations. Behind each the compilation is finished and computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.legal.devices import UNKNOWN_EXTENSION
from npu_conformance.cts.lib.runtime.legal.scene import MakeScene, Scene
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference
from npu_conformance.specs.neuralnetworks.runtime.result_codes import BYTE_SIZE_OF_CACHE_TOKEN, RuntimePriority

SECOND_NS = 1_000_000_000


def finish(app: RuntimeApp, compilation: int) -> None:
    """Finish a compilation, and compute."""
    app.succeed("compilation_finish", compilation)
    computes(app, compilation)


def computes(app: RuntimeApp, compilation: int) -> None:
    """Compute by a finished compilation."""
    app.computes(app.ready_execution(compilation))


def _create(app: RuntimeApp) -> Scene:
    return Scene({"model": app.finished_model(), "compilation": True}, lambda answer: _made(app, answer))


def _create_for_devices(app: RuntimeApp) -> Scene:
    arguments = {"model": app.finished_model(), "devices": (app.cpu(),), "compilation": True}
    return Scene(arguments, lambda answer: _made(app, answer))


def _made(app: RuntimeApp, answer: Any) -> None:
    finish(app, app.owns("compilation_create", answer.handle))


def _setter(explicit: bool = False, **arguments: Any) -> MakeScene:
    """Set something; explicit: of a compilation for one device."""

    def scene(app: RuntimeApp) -> Scene:
        compilation = app.compilation(devices=(app.cpu(),) if explicit else ())
        return Scene({"compilation": compilation, **arguments}, lambda answer: finish(app, compilation))

    return scene


def _add_attribute(app: RuntimeApp) -> Scene:
    compilation = app.compilation(devices=(app.cpu(),))
    return Scene({"compilation": compilation, **attribute(app)}, lambda answer: finish(app, compilation))


def attribute(app: RuntimeApp) -> dict[str, Any]:
    """The arguments of a hint that no driver knows."""
    data = place(app.memory, bytes(4))
    name = {"extension_name": UNKNOWN_EXTENSION, "attribute_code_within_extension": 1}
    return {**name, "data": data, "length": 4}


def _finish(app: RuntimeApp) -> Scene:
    compilation = app.compilation()
    return Scene({"compilation": compilation}, lambda answer: computes(app, compilation))


def _preference(out: str) -> MakeScene:
    def scene(app: RuntimeApp) -> Scene:
        compilation = app.finished_compilation()
        return Scene({"compilation": compilation, "index": 0, out: True}, lambda answer: computes(app, compilation))

    return scene


def _burst_create(app: RuntimeApp) -> Scene:
    compilation = app.finished_compilation()

    def rest(answer: Any) -> None:
        execution = app.ready_execution(compilation)
        app.succeed("execution_burst_compute", execution, app.owns("burst_create", answer.handle))
        app.check_sum(execution)

    return Scene({"compilation": compilation, "burst": True}, rest)


SCENES: Mapping[str, MakeScene] = {
    "compilation_create": _create,
    "compilation_create_for_devices": _create_for_devices,
    "compilation_set_preference": _setter(preference=ExecutionPreference.LOW_POWER),
    "compilation_set_caching": _setter(cache_dir="/nowhere/at/all", token=bytes(BYTE_SIZE_OF_CACHE_TOKEN)),
    "compilation_set_priority": _setter(priority=RuntimePriority.HIGH),
    "compilation_set_timeout": _setter(explicit=True, duration=3600 * SECOND_NS),
    "compilation_add_extension_attribute": _add_attribute,
    "compilation_finish": _finish,
    "compilation_get_preferred_memory_alignment_for_input": _preference("alignment"),
    "compilation_get_preferred_memory_padding_for_input": _preference("padding"),
    "compilation_get_preferred_memory_alignment_for_output": _preference("alignment"),
    "compilation_get_preferred_memory_padding_for_output": _preference("padding"),
    "burst_create": _burst_create,
}
