"""Preferences, priorities and deadlines: none changes a result, and a deadline that is too short is told as such."""

from __future__ import annotations

from functools import partial

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.sums import compilation_of_sum, devices_to_name, execution_of_sum, supports_sum
from npu_conformance.cts.lib.runtime.ways import compute, start_with_dependencies, started, ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode, RuntimePriority
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.quality_of_service", interface="runtime")

_PERSISTENT = (ResultCode.MISSED_DEADLINE_PERSISTENT, ResultCode.RESOURCE_EXHAUSTED_PERSISTENT)
_LATE = (ResultCode.MISSED_DEADLINE_TRANSIENT, ResultCode.RESOURCE_EXHAUSTED_TRANSIENT, *_PERSISTENT)
_HOUR = 3_600_000_000_000
_SHORT = {"nanosecond": 1, "microsecond": 1_000, "millisecond": 1_000_000}
_LONG = {"none": 0, "hour": _HOUR, "century": 876_000 * _HOUR, "signed_maximum": 2**63 - 1, "maximum": 2**64 - 1}
"""Timeouts in nanoseconds that no sum can miss; 0 clears one, and what is too large for a clock is no timeout."""


def _allowed(name: str) -> tuple[ResultCode, ...]:
    return (ResultCode.NO_ERROR,) if name in _LONG else (ResultCode.NO_ERROR, *_LATE)


@cases.case("settings.preferences", "FW-CMP-004", "FW-QOS-006")
def preferences(context: CaseContext) -> None:
    """Every preference gives the same sum in every way."""
    app = RuntimeApp(context)
    model = app.finished_model()
    for preference in ExecutionPreference:
        with context.configuration(preference.name.lower()):
            compilation = app.compilation(model)
            app.succeed("compilation_set_preference", compilation, preference)
            app.succeed("compilation_finish", compilation)
            for way in ways(app.level):
                execution_of_sum(app, compilation).computes(way)


@cases.case("settings.priorities", "FW-CMP-006", "FW-QOS-006", since=Version.V1_3)
def priorities(context: CaseContext) -> None:
    """Every priority gives the same sum in every way, while compilations of the others live."""
    app = RuntimeApp(context)
    model = app.finished_model()
    compilations = {}
    for priority in RuntimePriority:
        compilations[priority] = app.compilation(model)
        app.succeed("compilation_set_priority", compilations[priority], priority)
        app.succeed("compilation_finish", compilations[priority])
    for priority, compilation in compilations.items():
        with context.configuration(priority.name.lower()):
            for way in ways(app.level):
                execution_of_sum(app, compilation).computes(way)


@cases.case("settings.priorities_at_once", "FW-QOS-006", since=Version.V1_3)
def priorities_at_once(context: CaseContext) -> None:
    """Executions of all priorities that run at once give the same sums."""
    app = RuntimeApp(context)
    model, made, calls = app.finished_model(), [], []
    for priority in (*RuntimePriority, *RuntimePriority):
        compilation = app.compilation(model)
        app.succeed("compilation_set_priority", compilation, priority)
        app.succeed("compilation_finish", compilation)
        made.append(execution_of_sum(app, compilation))
        calls.append(partial(app.compute, made[-1].execution))
    results = context.run_concurrently(calls)
    checks.equal(results, [ResultCode.NO_ERROR] * len(calls), "results of executions at once")
    for each in made:
        each.check()


def _explicit(context: CaseContext, app: RuntimeApp) -> dict[str, int]:
    """The devices that support the sum. NotSupported where there is none."""
    model = app.finished_model()
    found = {name: device for name, device in devices_to_name(app).items() if supports_sum(app, model, device)}
    if not found:
        raise NotSupported("no device supports ADD of TENSOR_FLOAT32")
    return found


@cases.case("deadlines.compilation_timeout", "FW-QOS-001", "FW-QOS-005", since=Version.V1_3)
def compilation_timeout(context: CaseContext) -> None:
    """A compilation ends in time or says that it does not; afterwards one without a timeout succeeds."""
    app = RuntimeApp(context)
    model = app.finished_model()
    for device_name, device in _explicit(context, app).items():
        for name, timeout in {**_LONG, **_SHORT}.items():
            with context.configuration(f"{device_name}.{name}"):
                compilation = app.compilation(model, (device,))
                app.succeed("compilation_set_timeout", compilation, timeout)
                code = app.call("compilation_finish", compilation)
                app.expect("compilation_finish", code, *_allowed(name))
                if code != ResultCode.NO_ERROR:
                    compilation = app.finished_compilation(model, (device,))
                made = execution_of_sum(app, compilation)
                made.computes()
                for handle in (made.execution, compilation):  # a driver may have room for few models
                    app.free(handle)


@cases.case("deadlines.execution_timeout", "FW-QOS-001", "FW-QOS-005", since=Version.V1_3)
def execution_timeout(context: CaseContext) -> None:
    """An execution ends in time or says that it does not; afterwards one without a timeout succeeds."""
    app = RuntimeApp(context)
    for device_name, device in _explicit(context, app).items():
        compilation = compilation_of_sum(app, devices=(device,))
        for name, timeout in {**_LONG, **_SHORT}.items():
            for way in ways(app.level):
                with context.configuration(f"{device_name}.{way}.{name}"):
                    made = execution_of_sum(app, compilation)
                    app.succeed("execution_set_timeout", made.execution, timeout)
                    code = compute(app, way, made.execution, compilation)
                    app.expect(way, code, *_allowed(name))
                    if code == ResultCode.NO_ERROR:
                        made.check()
                    execution_of_sum(app, compilation).computes(way)


@cases.case("deadlines.fenced_duration", "FW-QOS-001", "FW-EXE-009", since=Version.V1_3)
def fenced_duration(context: CaseContext) -> None:
    """The same of the duration that an execution with dependencies may take."""
    app = RuntimeApp(context)
    for device_name, device in _explicit(context, app).items():
        compilation = compilation_of_sum(app, devices=(device,))
        for name, timeout in {**_LONG, **_SHORT}.items():
            with context.configuration(f"{device_name}.{name}"):
                made = execution_of_sum(app, compilation)
                answer = start_with_dependencies(app, made.execution, duration=timeout)
                event = started(app, "execution_start_compute_with_dependencies", answer)
                code = app.call("event_wait", event) if event else answer.result
                app.expect("the fenced execution", code, *_allowed(name))
                if code == ResultCode.NO_ERROR:
                    made.check()


@cases.case("deadlines.duration_of_several_devices", "FW-EXE-009", since=Version.V1_3)
def duration_of_several_devices(context: CaseContext) -> None:
    """A timeout or a duration is refused where the app has not named exactly one device; zero durations are none."""
    app = RuntimeApp(context)
    model = app.finished_model()
    app.refused("compilation_set_timeout", ResultCode.BAD_DATA, app.compilation(model), _HOUR)
    compilation = app.finished_compilation(model)
    made = execution_of_sum(app, compilation)
    app.refused("execution_set_timeout", ResultCode.BAD_DATA, made.execution, _HOUR)
    for duration in (1, _HOUR):
        answer = start_with_dependencies(app, made.execution, duration=duration)
        app.expect("a duration", answer.result, ResultCode.BAD_DATA)
    execution_of_sum(app, compilation).computes("fenced")


@cases.case("deadlines.expired_on_cpu", "FW-QOS-002", since=Version.V1_3)
def expired_on_cpu(context: CaseContext) -> None:
    """A deadline that has passed when the CPU is reached is missed for good: no later attempt is promised."""
    app = RuntimeApp(context)
    missed = ResultCode.MISSED_DEADLINE_PERSISTENT
    with context.configuration("compilation"):
        compilation = app.compilation(app.finished_model(), (app.cpu(),))
        app.succeed("compilation_set_timeout", compilation, 1)
        app.expect("compilation_finish", app.call("compilation_finish", compilation), missed)
    compilation = compilation_of_sum(app, devices=(app.cpu(),))
    for way in ways(app.level):
        with context.configuration(way):
            made = execution_of_sum(app, compilation)
            app.succeed("execution_set_timeout", made.execution, 1)
            app.expect(way, compute(app, way, made.execution, compilation), missed)


@cases.case("deadlines.nearer_one_on_cpu", "FW-QOS-002", "FW-EXE-009", since=Version.V1_3)
def nearer_deadline_on_cpu(context: CaseContext) -> None:
    """Of the timeout and the duration of an execution with dependencies the one that ends first counts on the CPU."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app, devices=(app.cpu(),))
    missed, done = ResultCode.MISSED_DEADLINE_PERSISTENT, ResultCode.NO_ERROR
    limits = {"timeout": (1, _HOUR, missed), "duration": (_HOUR, 1, missed), "duration_alone": (0, 1, missed)}
    for name, (timeout, duration, code) in {**limits, "neither": (_HOUR, _HOUR, done)}.items():
        with context.configuration(name):
            made = execution_of_sum(app, compilation)
            app.succeed("execution_set_timeout", made.execution, timeout)
            answer = start_with_dependencies(app, made.execution, duration=duration)
            event = started(app, "execution_start_compute_with_dependencies", answer)
            app.expect("the fenced execution", app.call("event_wait", event) if event else answer.result, code)


@cases.case("deadlines.timeout_is_cleared", "FW-QOS-001", since=Version.V1_3)
def timeout_is_cleared(context: CaseContext) -> None:
    """Zero takes a timeout back."""
    app = RuntimeApp(context)
    compilation = app.compilation(app.finished_model(), (app.cpu(),))
    for timeout in (1, 0):
        app.succeed("compilation_set_timeout", compilation, timeout)
    app.succeed("compilation_finish", compilation)
    for way in ways(app.level):
        with context.configuration(way):
            made = execution_of_sum(app, compilation)
            for timeout in (1, 0):
                app.succeed("execution_set_timeout", made.execution, timeout)
            made.computes(way)


@cases.case("deadlines.reusable", "FW-QOS-001", "FW-EXE-003", since=Version.FL5)
def reusable(context: CaseContext) -> None:
    """The timeout of a reusable execution counts from each computation on, not from the first."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app, devices=(app.cpu(),))
    made = execution_of_sum(app, compilation, reusable=True)
    app.succeed("execution_set_timeout", made.execution, _HOUR)
    for _ in range(2):
        for way in ways(app.level):
            made.computes(way)
