"""Durations: asked for on one explicit device alone, and told after a success alone."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.sums import (
    compilation_of_sum,
    devices_to_name,
    execution_of_sum,
    failing_compilation,
    failing_execution,
    need_sum,
)
from npu_conformance.cts.lib.runtime.ways import ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.result_codes import UNAVAILABLE_DURATION, DurationCode, ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.executions.timing", interface="runtime")

_PAIRS = (
    (DurationCode.ON_HARDWARE, DurationCode.IN_DRIVER),
    (DurationCode.FENCED_ON_HARDWARE, DurationCode.FENCED_IN_DRIVER),
)


def _codes(level: Version) -> tuple[DurationCode, ...]:
    return tuple(DurationCode) if level >= Version.V1_3 else (DurationCode.ON_HARDWARE, DurationCode.IN_DRIVER)


@cases.case("measured", "FW-EXE-020", "FW-EXE-019", since=Version.V1_2)
def measured(context: CaseContext) -> None:
    """Measured durations are told; where both are known, the driver's is not below that of the hardware."""
    app = RuntimeApp(context)
    model = app.finished_model()
    for name, device in devices_to_name(app).items():
        for way in ways(app.level):
            with context.configuration(f"{name}.{way}"):
                need_sum(app, model, device)
                made = execution_of_sum(app, app.finished_compilation(model, (device,)))
                app.succeed("execution_set_measure_timing", made.execution, True)
                made.computes(way)
                _durations_fit(app, made.execution)


def _durations_fit(app: RuntimeApp, execution: int) -> None:
    for on_hardware, in_driver in _PAIRS[: len(_codes(app.level)) // 2]:
        inner, outer = (
            app.succeed("execution_get_duration", execution, code, True).value for code in (on_hardware, in_driver)
        )
        fits = UNAVAILABLE_DURATION in (inner, outer) or inner <= outer
        checks.that(fits, f"{on_hardware.name} is {inner} ns, {in_driver.name} is {outer} ns: expected no less")


@cases.case("not_measured", "FW-EXE-019", since=Version.V1_2)
def not_measured(context: CaseContext) -> None:
    """An execution that was not told to measure tells no durations."""
    app = RuntimeApp(context)
    made = execution_of_sum(app, compilation_of_sum(app, devices=(app.cpu(),)))
    made.computes()
    _tells_no_durations(app, made.execution)


@cases.case("switched_off", "FW-EXE-019", since=Version.V1_2)
def switched_off(context: CaseContext) -> None:
    """Measuring that is switched on and off again is off."""
    app = RuntimeApp(context)
    made = execution_of_sum(app, compilation_of_sum(app, devices=(app.cpu(),)))
    app.succeed("execution_set_measure_timing", made.execution, True)
    app.succeed("execution_set_measure_timing", made.execution, False)
    made.computes()
    _tells_no_durations(app, made.execution)


@cases.case("too_early", "FW-EXE-019", since=Version.V1_2)
def too_early(context: CaseContext) -> None:
    """Before it is computed an execution tells no durations."""
    app = RuntimeApp(context)
    made = execution_of_sum(app, compilation_of_sum(app, devices=(app.cpu(),)))
    app.succeed("execution_set_measure_timing", made.execution, True)
    _tells_no_durations(app, made.execution)
    made.computes()


@cases.case("after_failure", "FW-EXE-019", since=Version.V1_2)
def after_failure(context: CaseContext) -> None:
    """An execution that failed tells no durations."""
    app = RuntimeApp(context)
    execution = failing_execution(app, failing_compilation(app, devices=(app.cpu(),)))
    app.succeed("execution_set_measure_timing", execution, True)
    checks.that(app.compute(execution) != ResultCode.NO_ERROR, "expected a failure")
    _tells_no_durations(app, execution)


def _tells_no_durations(app: RuntimeApp, execution: int) -> None:
    for code in _codes(app.level):
        answer = app.refused("execution_get_duration", ResultCode.BAD_STATE, execution, code, True)
        checks.equal(answer.value, UNAVAILABLE_DURATION, f"{code.name} that is not there")


@cases.case("several_devices", "FW-EXE-009", since=Version.V1_2)
def several_devices(context: CaseContext) -> None:
    """Timing is refused where the app has not named exactly one device, and the execution goes on without."""
    app = RuntimeApp(context)
    model, devices = app.finished_model(), app.devices()
    choices = {"default": (), "all": devices} if len(devices) > 1 else {"default": ()}
    for name, chosen in choices.items():
        with context.configuration(name):
            made = execution_of_sum(app, app.finished_compilation(model, chosen))
            app.refused("execution_set_measure_timing", ResultCode.BAD_DATA, made.execution, True)
            made.computes()


@cases.case("reusable", "FW-EXE-020", "FW-EXE-003", since=Version.FL5)
def reusable(context: CaseContext) -> None:
    """Each computation of a reusable execution has durations of its own."""
    app = RuntimeApp(context)
    made = execution_of_sum(app, compilation_of_sum(app, devices=(app.cpu(),)), reusable=True)
    app.succeed("execution_set_measure_timing", made.execution, True)
    for way in ways(app.level):
        made.computes(way)
        _durations_fit(app, made.execution)
