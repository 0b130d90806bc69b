"""How long an execution took, as the app is told: what the driver measured, or that nobody did."""

from __future__ import annotations

from itertools import product

from npu_conformance.cts.lib.runtime.fixture import CPU
from npu_conformance.cts.lib.runtime.net_app import Computed
from npu_conformance.cts.lib.runtime.nets import add
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import driver, failing
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript
from npu_conformance.specs.neuralnetworks.runtime.result_codes import UNAVAILABLE_DURATION, DurationCode, ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import UNTOUCHED
from npu_conformance.specs.neuralnetworks.types import Timing
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.introspection.timing", interface="runtime", since=Version.V1_2)

_WAYS = {"compute": "compute", "start": "asynchronous", "burst": "burst", "fenced": "fenced"}
"""Ways to compute, by the word that stands for each in the ids of cases, which are locked."""
_MEASURED = {"neither": (False, False), "device": (True, False), "driver": (False, True), "both": (True, True)}
"""Which of the two times a driver tells: on the device, in the driver."""

_ON_DEVICE, _IN_DRIVER = 4_000, 9_000
_FENCED_ON_DEVICE, _FENCED_IN_DRIVER = 3_000, 7_000
_HOUR = 3_600_000_000_000


def _told(hal: Version, measured: str, on_device: int = _ON_DEVICE, in_driver: int = _IN_DRIVER) -> Timing:
    """What a driver tells, in its unit: nanoseconds in AIDL, microseconds in HIDL."""
    unit, none = (1 if hal.is_aidl else 1_000), hal.unavailable_time
    has_device, has_driver = _MEASURED[measured]
    return Timing(on_device // unit if has_device else none, in_driver // unit if has_driver else none)


def _expected(measured: str, on_device: int = _ON_DEVICE, in_driver: int = _IN_DRIVER) -> list[int]:
    has_device, has_driver = _MEASURED[measured]
    return [on_device if has_device else UNAVAILABLE_DURATION, in_driver if has_driver else UNAVAILABLE_DURATION]


def _computed(
    context: CaseContext, name: str, way: str, *scripts: DriverScript, timeout_ns: int = 0
) -> tuple[ScriptedApp, Computed]:
    """Compute with measuring on one device. timeout_ns: 0 where the app says none."""
    app = ScriptedApp(context, *scripts)
    compiled = app.compiled(add(), name)
    computed = app.prepared_execution(compiled)
    app.succeed("execution_set_measure_timing", computed.handle, True)
    if timeout_ns:
        app.succeed("execution_set_timeout", computed.handle, timeout_ns)
    computed.result = app.run(compiled, computed.handle, _WAYS[way])
    return app, computed


def _durations(app: ScriptedApp, computed: Computed, *codes: DurationCode) -> list[int]:
    app.expect("execution", computed.result)
    return [app.succeed("execution_get_duration", computed.handle, int(code), True).value for code in codes]


def _judge(app: ScriptedApp, computed: Computed, expected: list[int]) -> None:
    found = _durations(app, computed, DurationCode.ON_HARDWARE, DurationCode.IN_DRIVER)
    _judge_durations(app, found, expected, "nanoseconds on hardware and in the driver")


def _judge_durations(app: ScriptedApp, found: list[int], expected: list[int], what: str) -> None:
    """Durations are those of the driver; a runtime that does not know one of them gets a quality warning."""
    known = [
        UNAVAILABLE_DURATION if one == UNAVAILABLE_DURATION else due for one, due in zip(found, expected, strict=True)
    ]
    checks.equal(found, known, what)
    if known != expected:
        app.context.warn_quality(f"{what}: expected {expected}, found {found}")


def _declare_measured(hal: Version, measured: str, way: str) -> None:
    @cases.case(f"{_word(hal)}.{measured}.{way}", "FW-DEV-002", since=hal)
    def measured_by_driver(context: CaseContext) -> None:
        """Times come as the driver measured them, in nanoseconds; one that it did not measure is not available."""
        script = driver("one", hal=hal, timing=_told(hal, measured))
        _judge(*_computed(context, "one", way, script), _expected(measured))


def _declare_unmeasured(name: str, hal: Version, way: str) -> None:
    @cases.case(f"{name}.{way}", "FW-VER-001")
    def not_measured(context: CaseContext) -> None:
        """The CPU and drivers of HAL 1.0 and 1.1 measure nothing: the times are not available, and that is no error."""
        device = CPU if name == "cpu" else "one"
        _judge(*_computed(context, device, way, driver("one", hal=hal)), _expected("neither"))


def _declare_failing(hal: Version, way: str) -> None:
    @cases.case(f"{_word(hal)}.fails.{way}", "FW-API-006", since=hal)
    def failed(context: CaseContext) -> None:
        """After an execution that failed there are no times."""
        script = driver("one", hal=hal, **failing("execute"))
        app, computed = _computed(context, "one", way, script)
        app.expect("execution", computed.result, ResultCode.OP_FAILED)
        for code in (DurationCode.ON_HARDWARE, DurationCode.IN_DRIVER):
            found = app.call("execution_get_duration", computed.handle, int(code), True).value
            checks.member(found, (UNAVAILABLE_DURATION, UNTOUCHED), "duration after a failure")


def _declare_fenced(hal: Version, launched: str, fenced: str) -> None:
    since = min(hal, Version.FL5)

    @cases.case(f"{_word(hal)}.launched_{launched}.fenced_{fenced}", "FW-DEV-002", "FW-EXE-020", since=since)
    def fenced_times(context: CaseContext) -> None:
        """A fenced execution has two pairs of times: from the launch on, and from the moment the fences signalled."""
        script = driver(
            "one",
            hal=hal,
            timing=_told(hal, launched),
            fenced_timing=_told(hal, fenced, _FENCED_ON_DEVICE, _FENCED_IN_DRIVER),
        )
        app, computed = _computed(context, "one", "fenced", script)
        _judge(app, computed, _expected(launched))
        found = _durations(app, computed, DurationCode.FENCED_ON_HARDWARE, DurationCode.FENCED_IN_DRIVER)
        expected = _expected(fenced, _FENCED_ON_DEVICE, _FENCED_IN_DRIVER)
        _judge_durations(app, found, expected, "nanoseconds on hardware and in the driver, from the fences on")


def _word(hal: Version) -> str:
    """A version in the id of a case."""
    return hal.value.replace(".", "_") if hal.is_aidl else "v" + hal.value.replace(".", "_")


def _declare_all() -> None:
    for way in ("compute", "start", "burst"):
        _declare_unmeasured("cpu", Version.FL8, way)
        _declare_unmeasured("v1_1", Version.V1_1, way)
        for hal in (Version.V1_1, Version.FL8):
            _declare_failing(hal, way)
        for measured in _MEASURED:
            _declare_measured(Version.FL8, measured, way)
    for way in ("compute", "start", "burst"):
        for hal in (Version.V1_2, Version.V1_3, Version.FL5, Version.FL6, Version.FL7):
            _declare_measured(hal, "both", way)
    for name, hal in (("cpu", Version.FL8), ("v1_1", Version.V1_1)):
        _declare_unmeasured(name, hal, "fenced")
    _declare_failing(Version.FL8, "fenced")
    for hal, launched, fenced in product((Version.V1_3, Version.FL8), _MEASURED, _MEASURED):
        _declare_fenced(hal, launched, fenced)
    for hal in (Version.FL5, Version.FL6, Version.FL7):
        _declare_fenced(hal, "both", "both")


_declare_all()


@cases.case("not_asked", "FW-DEV-002")
def not_asked(context: CaseContext) -> None:
    """A driver is asked to measure only where the app asked for it."""
    app = ScriptedApp(context, driver("one", timing=_told(Version.FL8, "both")))
    app.computes_rightly(app.compiled(add(), "one"))
    checks.equal({call.measure_timing for call in app.executions("one")}, {False}, "requests to measure")


@cases.case("no_time_at_all", "FW-DEV-002", since=Version.V1_3)
def no_time_at_all(context: CaseContext) -> None:
    """A driver may say that something took no time: that is a time, and not one that is not available."""
    for hal in (Version.V1_3, *((Version.FL8,) if context.manifest.feature_level.is_aidl else ())):
        with context.configuration(_word(hal)):
            script = driver("one", hal=hal, timing=Timing(0, _told(hal, "driver").time_in_driver))
            app, computed = _computed(context, "one", "compute", script)
            _judge(app, computed, [0, _IN_DRIVER])
            app.close()


@cases.case("longest_time", "FW-DEV-002")
def longest_time(context: CaseContext) -> None:
    """A time in microseconds that 64 bits cannot tell in nanoseconds is as good as none, and no short one."""
    for hal in (Version.V1_2, *((Version.V1_3,) if context.manifest.feature_level >= Version.V1_3 else ())):
        with context.configuration(_word(hal)):
            app, computed = _computed(context, "one", "compute", driver("one", hal=hal, timing=Timing(2**63, 2**62)))
            _judge(app, computed, _expected("neither"))
            app.close()


@cases.case("measured_in_every_way", "FW-DEV-002", since=Version.V1_3)
def measured_in_every_way(context: CaseContext) -> None:
    """A driver is asked to measure in whichever way it computes, beside a timeout too, or a quality warning tells."""
    newest = (Version.FL5, Version.FL8) if context.manifest.feature_level.is_aidl else ()
    for hal, way in product((Version.V1_3, *newest), _WAYS):
        with context.configuration(f"{_word(hal)}.{way}"):
            app, computed = _computed(context, "one", way, driver("one", hal=hal), timeout_ns=_HOUR)
            app.expect("execution", computed.result)
            if {call.measure_timing for call in app.executions("one")} != {True}:
                context.warn_quality(f"a driver of {hal} is not asked to measure ({way})")
            app.close()


@cases.case("several_devices", "FW-PRT-011")
def several_devices(context: CaseContext) -> None:
    """Only executions on one named device can be measured."""
    app = ScriptedApp(context, driver("one"), driver("two"))
    for devices in ((), ("one", "two")):
        computed = app.prepared_execution(app.compiled(add(), *devices))
        app.refused("execution_set_measure_timing", ResultCode.BAD_DATA, computed.handle, True)
