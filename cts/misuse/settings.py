"""What is set of an execution beside its arguments."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.legal.compilations import SECOND_NS, attribute
from npu_conformance.cts.lib.runtime.misuse import (
    BAD_DATA,
    BAD_STATE,
    UNEXPECTED_NULL,
    Misuses,
    Object,
    misuses_of_executions,
)
from npu_conformance.cts.lib.runtime.objects import COMPLETED_EXECUTION, COMPLETED_EXECUTION_ON_CPU
from npu_conformance.cts.misuse.compilations import for_two_devices
from npu_conformance.harness.run.cases import Case, CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.result_codes import MAXIMUM_LOOP_TIMEOUT_NS, ResultCode
from npu_conformance.specs.versions import Version

_own = CaseGroup("cts.misuse", interface="runtime", group=Group.RUNTIME_EXECUTIONS)
_IMPLICIT = Object(RuntimeApp.ready_execution, RuntimeApp.computes)


def _on_two_devices(app: RuntimeApp) -> int:
    """An execution of a compilation for two devices."""
    compilation = for_two_devices(app)
    app.succeed("compilation_finish", compilation)
    return app.ready_execution(compilation)


_TWO_DEVICES = Object(_on_two_devices, RuntimeApp.computes)


def _of_one_device(table: Misuses) -> None:
    """Rows of what needs a compilation for exactly one device that the app names."""
    table.row("implicit_devices", BAD_DATA, {"execution": _IMPLICIT})
    table.row("two_devices", BAD_DATA, {"execution": _TWO_DEVICES})
    table.row("started", BAD_STATE, {"execution": COMPLETED_EXECUTION_ON_CPU}, of="FW-EXE-002")


def _of_preparation(table: Misuses) -> None:
    """Rows of what can only be set before the computation."""
    table.null("execution")
    table.row("started", BAD_STATE, {"execution": COMPLETED_EXECUTION}, of="FW-EXE-002")


def _set_loop_timeout() -> Misuses:
    table = misuses_of_executions("execution_set_loop_timeout", "FW-EXE-010")
    _of_preparation(table)
    above = ({"duration": MAXIMUM_LOOP_TIMEOUT_NS + 1}, {"duration": 3600 * SECOND_NS}, {"duration": 2**64 - 1})
    table.row("above_maximum", ResultCode.NO_ERROR, *above)
    return table


def _enable_padding() -> Misuses:
    table = misuses_of_executions("execution_enable_input_and_output_padding", "FW-EXE-008")
    _of_preparation(table)
    table.row("argument_set", BAD_STATE, {"execution": _IMPLICIT})
    return table


def _set_reusable() -> Misuses:
    table = misuses_of_executions("execution_set_reusable", "FW-EXE-003")
    _of_preparation(table)
    return table


def _has_attribute(app: RuntimeApp) -> int:
    """An execution that has the hint already."""
    execution = app.ready_execution(app.finished_compilation(devices=(app.cpu(),)))
    app.succeed("execution_add_extension_attribute", execution, **attribute(app))
    return execution


def _add_attribute() -> Misuses:
    table = misuses_of_executions("execution_add_extension_attribute", "FW-EXT-008")
    table.null("execution", "extension_name")
    table.row("null_data", UNEXPECTED_NULL, {"data": None})
    table.row("twice", BAD_DATA, {"execution": Object(_has_attribute, RuntimeApp.computes)})
    _of_one_device(table)
    return table


@_own.case("execution_add_extension_attribute.implicit_devices_and_started", "FW-EXT-008", since=Version.FL8)
def late_attribute_for_all_devices(context: CaseContext) -> None:
    """An attribute that comes too late and for no one device: BAD_DATA or BAD_STATE, since no document orders them."""
    app = RuntimeApp(context)
    execution = app.completed_execution()
    result = app.call("execution_add_extension_attribute", execution, **attribute(app))
    app.expect("execution_add_extension_attribute", result, BAD_DATA, BAD_STATE)
    app.check_sum(execution)


def cases() -> Iterator[Case]:
    """All cases."""
    yield from _own()
    for function in ("execution_set_measure_timing", "execution_set_timeout"):
        table = misuses_of_executions(function, "FW-EXE-009")
        table.null("execution")
        _of_one_device(table)
        table.row("implicit_devices_and_started", BAD_DATA, {"execution": COMPLETED_EXECUTION})
        yield from table
    for table in (_set_loop_timeout(), _enable_padding(), _set_reusable(), _add_attribute()):
        yield from table
