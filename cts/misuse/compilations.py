"""Compilations, and bursts over them."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.legal.compilations import attribute, finish
from npu_conformance.cts.lib.runtime.misuse import BAD_DATA, BAD_STATE, UNEXPECTED_NULL, Misuses, Object
from npu_conformance.cts.lib.runtime.objects import (
    BUILDING_COMPILATION,
    BUILDING_MODEL,
    FAILED_COMPILATION,
    FINISHED_COMPILATION,
    FINISHED_COMPILATION_FOR_CPU,
    INVALID_MODEL,
    TWICE,
    has_failed,
)
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import Case, CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL

_FAR = 999
_own = CaseGroup("cts.misuse.compilation_set_preference", interface="runtime", group=Group.RUNTIME_COMPILATIONS)


def _table(function: str, *requirements: str) -> Misuses:
    return Misuses(function, *requirements, group=Group.RUNTIME_COMPILATIONS)


def for_two_devices(app: RuntimeApp) -> int:
    """A compilation for two devices that the app names."""
    devices = app.devices()
    if len(devices) < 2:
        raise NotApplicable("the runtime has one device")
    return app.compilation(devices=devices[-2:])


def _create() -> Misuses:
    table = _table("compilation_create", "FW-CMP-001")
    table.null("model", "compilation")
    table.row("model_not_finished", BAD_STATE, {"model": BUILDING_MODEL}, {"model": INVALID_MODEL})
    return table


def _create_for_devices() -> Misuses:
    table = _table("compilation_create_for_devices", "FW-CMP-002")
    table.null("model", "devices", "compilation")
    table.row(
        "null_element",
        UNEXPECTED_NULL,
        {"devices": (NULL,)},
        {"devices": Object(lambda app: (*app.devices(), NULL))},
    )
    table.row("no_devices", BAD_DATA, {"devices": ()})
    table.row("duplicate_device", BAD_DATA, *TWICE)
    table.row("no_device", BAD_DATA, {"devices": Object(lambda app: (app.finished_model(),))})
    table.row("model_unfinished", BAD_STATE, {"model": BUILDING_MODEL}, of="FW-CMP-001")
    return table


def _set_preference() -> Misuses:
    table = _table("compilation_set_preference", "FW-CMP-004")
    table.null("compilation")
    table.row("preference", BAD_DATA, {"preference": 3}, {"preference": 40}, {"preference": 2**31 - 1})
    table.row("finished", BAD_STATE, {"compilation": FINISHED_COMPILATION}, of="FW-CMP-003")
    return table


@_own.case("negative_preference", "FW-CMP-005")
def negative_preference(context: CaseContext) -> None:
    """AOSP's runtime takes a negative preference, and refuses to finish; another may refuse it at once."""
    app = RuntimeApp(context)
    compilation = app.compilation()
    result = app.call("compilation_set_preference", compilation, -1)
    app.expect("compilation_set_preference", result, ResultCode.NO_ERROR, BAD_DATA)
    if result != ResultCode.NO_ERROR:
        finish(app, compilation)
        return
    if app.call("compilation_finish", compilation) == ResultCode.NO_ERROR:
        context.warn_quality("compilation_finish accepts a negative preference")


def _set_caching() -> Misuses:
    table = _table("compilation_set_caching")
    table.null("compilation", "cache_dir", "token")
    table.row("finished", BAD_STATE, {"compilation": FINISHED_COMPILATION}, of="FW-CMP-003")
    return table


def _set_priority() -> Misuses:
    table = _table("compilation_set_priority", "FW-CMP-006")
    table.null("compilation")
    table.row("priority", BAD_DATA, *({"priority": each} for each in (0, 89, 91, 105, 111, 999, -1)))
    table.row("finished", BAD_STATE, {"compilation": FINISHED_COMPILATION}, of="FW-CMP-003")
    return table


def _set_timeout() -> Misuses:
    table = _table("compilation_set_timeout", "FW-CMP-007")
    table.null("compilation")
    table.row("implicit_devices", BAD_DATA, {"compilation": BUILDING_COMPILATION})
    two = {"compilation": Object(for_two_devices, finish)}
    table.row("two_devices", BAD_DATA, two)
    table.row("finished", BAD_STATE, {"compilation": FINISHED_COMPILATION_FOR_CPU}, of="FW-CMP-003")
    return table


def _has_attribute(app: RuntimeApp) -> int:
    """A compilation that has the hint already."""
    compilation = app.compilation(devices=(app.cpu(),))
    app.succeed("compilation_add_extension_attribute", compilation, **attribute(app))
    return compilation


def _add_attribute() -> Misuses:
    table = _table("compilation_add_extension_attribute", "FW-EXT-008")
    table.null("compilation", "extension_name")
    table.row("null_data", UNEXPECTED_NULL, {"data": None})
    table.row("implicit_devices", BAD_DATA, {"compilation": BUILDING_COMPILATION})
    table.row("two_devices", BAD_DATA, {"compilation": Object(for_two_devices, finish)})
    table.row("twice", BAD_DATA, {"compilation": Object(_has_attribute, finish)})
    table.row("finished", BAD_STATE, {"compilation": FINISHED_COMPILATION_FOR_CPU}, of="FW-CMP-003")
    return table


def _unsupported(app: RuntimeApp) -> int:
    """A compilation for the CPU, which does not support OEM_OPERATION."""
    model = app.operands_of_add()
    app.succeed("model_add_operation", model, OperationType.OEM_OPERATION, (0, 1, 2), (3,))
    app.succeed("model_identify_inputs_and_outputs", model, (0, 1), (3,))
    app.succeed("model_finish", model)
    return app.compilation(model, (app.cpu(),))


def _finish() -> Misuses:
    table = _table("compilation_finish", "FW-CMP-003")
    table.null("compilation")
    table.row("finished", BAD_STATE, {"compilation": FINISHED_COMPILATION})
    table.row("failed", BAD_STATE, {"compilation": FAILED_COMPILATION})
    table.row("device_lacks_operation", BAD_DATA, {"compilation": Object(_unsupported, has_failed)}, of="FW-PRT-008")
    return table


def _preferred() -> Iterator[Misuses]:
    for what in ("alignment", "padding"):
        for role, count in (("input", 2), ("output", 1)):
            table = _table(f"compilation_get_preferred_memory_{what}_for_{role}", "FW-CMP-008")
            table.null("compilation", what)
            table.row(
                "not_finished", BAD_STATE, {"compilation": BUILDING_COMPILATION}, {"compilation": FAILED_COMPILATION}
            )
            table.row("index", BAD_DATA, {"index": count}, {"index": _FAR})
            yield table


def _burst_create() -> Misuses:
    table = _table("burst_create", "FW-EXE-001")
    table.null("compilation", "burst")
    table.row("compilation_unfinished", BAD_STATE, {"compilation": BUILDING_COMPILATION})
    table.row("compilation_failed", BAD_STATE, {"compilation": FAILED_COMPILATION})
    return table


def cases() -> Iterator[Case]:
    """All cases."""
    yield from _own()
    for table in (
        _create(), _create_for_devices(), _set_preference(), _set_caching(), _set_priority(), _set_timeout(),
        _add_attribute(), _finish(), *_preferred(), _burst_create(),
    ):  # fmt: skip
        yield from table
