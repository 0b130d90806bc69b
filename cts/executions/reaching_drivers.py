"""What an app says of an execution reaches the driver whichever way it computes: deadlines, loop timeouts, hints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npu_conformance.cts.lib.runtime.cache_folder import CacheFolder
from npu_conformance.cts.lib.runtime.net_app import Compiled, Computed
from npu_conformance.cts.lib.runtime.nets import add, chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import ADDS, FAST, MULTIPLIES, driver
from npu_conformance.cts.lib.runtime.vendor import FIBONACCI, PREFIX_BITS, lists
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference, OperandType, Priority
from npu_conformance.specs.neuralnetworks.runtime.control import DriverCall
from npu_conformance.specs.neuralnetworks.runtime.result_codes import (
    MAXIMUM_LOOP_TIMEOUT_NS,
    UNAVAILABLE_DURATION,
    DurationCode,
    ResultCode,
    RuntimePriority,
)
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription
from npu_conformance.specs.neuralnetworks.types import NumberOfCacheFiles, Timing
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.executions.reaching_drivers", interface="runtime", since=Version.V1_3)

_SECOND = 1_000_000_000
_HOUR = 3600 * _SECOND
_WAYS = ("compute", "asynchronous", "burst", "fenced")
_TIMES = 3
_HINT = b"\x01\x02\x03\x04"

Say = Callable[[ScriptedApp, int], object]
"""Says something of an execution before it is computed."""


def _told(app: ScriptedApp, compiled: Compiled, way: str, say: Say) -> DriverCall:
    """What the driver was told of one execution."""
    before = len(app.executions("one"))
    computed = app.prepared_execution(compiled)
    say(app, computed.handle)
    app.finish(compiled, computed, way)
    app.expect(f"execution ({way})", computed.result)
    return app.executed_once("one", before)


def _told_with_duration(app: ScriptedApp, duration: int, *said: Say) -> DriverCall:
    """What the driver was told of one fenced execution with a duration. said: what else the app says of it."""
    computed = app.prepared_execution(app.compiled(add(), "one"))
    for say in said:
        say(app, computed.handle)
    event = app.made("execution_start_compute_with_dependencies", computed.handle, (), 0, duration, True)
    app.expect("event_wait", app.call("event_wait", event))
    return app.executed_once("one")


def _timeout(duration: int) -> Say:
    return lambda app, execution: app.succeed("execution_set_timeout", execution, duration)


def _loop_timeout(duration: int) -> Say:
    return lambda app, execution: app.succeed("execution_set_loop_timeout", execution, duration)


def _hals(context: CaseContext) -> tuple[Version, ...]:
    """A driver of each generation that this runtime can have and that knows deadlines."""
    newer = (Version.FL5, Version.FL8) if context.manifest.feature_level.is_aidl else ()
    return (Version.V1_3, *newer)


def _in_each_way(context: CaseContext, judge: Callable[[ScriptedApp, Compiled, str], None]) -> None:
    """Judge each way to compute on a driver of each generation. The packets of HIDL's burst have no place for times."""
    for hal in _hals(context):
        ways = [way for way in _WAYS if hal.is_aidl or way != "burst"]
        for way in [*ways, *([] if hal.is_aidl else ["callback"])]:
            with context.configuration(f"{hal.name.lower()}.{way}"):
                app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
                if way == "callback":
                    app.control.set_property("debug.nn.syncexec-hal", "0")
                judge(app, app.compiled(add(), "one"), "compute" if way == "callback" else way)
                app.close()


@cases.case("deadlines", "FW-QOS-001")
def deadlines(context: CaseContext) -> None:
    """Of two executions, the one that may take an hour longer has a deadline that is an hour later."""

    def judge(app: ScriptedApp, compiled: Compiled, way: str) -> None:
        first = _told(app, compiled, way, _timeout(_HOUR)).deadline_ns
        second = _told(app, compiled, way, _timeout(2 * _HOUR)).deadline_ns
        checks.that(0 < first < 2**63, f"expected a deadline, found {first}")
        later = second - first - _HOUR
        checks.that(0 <= later < _HOUR // 2, f"expected deadlines an hour apart, found {second - first} ns")

    _in_each_way(context, judge)


@cases.case("loop_timeouts", "FW-QOS-003", "FW-EXE-010")
def loop_timeouts(context: CaseContext) -> None:
    """A loop timeout reaches the driver; one above the maximum as the maximum."""

    def judge(app: ScriptedApp, compiled: Compiled, way: str) -> None:
        for wanted, expected in ((5 * _SECOND, 5 * _SECOND), (20 * _SECOND, MAXIMUM_LOOP_TIMEOUT_NS)):
            found = _told(app, compiled, way, _loop_timeout(wanted)).loop_timeout_ns
            checks.equal(found, expected, "loop timeout that the driver got, in ns")

    _in_each_way(context, judge)


@cases.case("duration", "FW-QOS-001", "FW-EXE-023")
def duration(context: CaseContext) -> None:
    """The duration that counts from the fences on reaches the driver."""
    for hal in _hals(context):
        with context.configuration(hal.name.lower()):
            app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
            call = _told_with_duration(app, 7 * _SECOND)
            checks.equal(call.duration_ns, 7 * _SECOND, "duration that the driver got, in ns")
            app.close()


@cases.case("fences", "FW-EXE-023")
def fences(context: CaseContext) -> None:
    """Drivers that know fences get a fenced execution as one, in parts too, or a quality warning tells."""
    for name, net in (("whole", add()), ("parts", chain("ADD", "MUL"))):
        with context.configuration(name):
            app = ScriptedApp(context, ADDS, MULTIPLIES)
            app.computes_rightly(app.compiled(net), "fenced")
            methods = {call.method for driver_name in app.driver_names for call in app.executions(driver_name)}
            checks.that(bool(methods), "expected executions by the drivers, found none")
            if methods != {"execute_fenced"}:
                context.warn_quality(f"a fenced execution came to the drivers as {', '.join(sorted(methods))}")
            app.close()


@cases.case("preferred_memory", "FW-CMP-009", since=Version.FL5)
def preferred_memory(context: CaseContext) -> None:
    """What a runtime prefers for a driver that knows no padding is still a power of two: one byte at least."""
    app = ScriptedApp(context, driver("one", hal=Version.V1_3, exec_time=FAST))
    compiled = app.compiled(add(), "one")
    for role in ("input", "output"):
        for kind in ("alignment", "padding"):
            function = f"compilation_get_preferred_memory_{kind}_for_{role}"
            value = app.succeed(function, compiled.handle, 0, True).value
            checks.that(value > 0 and value & (value - 1) == 0, f"{function}: expected a power of two, found {value}")


@cases.case("second_computation", "FW-QOS-001", "FW-EXE-003", since=Version.FL5)
def second_computation(context: CaseContext) -> None:
    """What was said of a reusable execution holds for every computation."""
    app = ScriptedApp(context, driver("one", exec_time=FAST))
    compiled = app.compiled(add(), "one")
    computed = app.prepared_execution(compiled)
    app.succeed("execution_set_reusable", computed.handle, True)
    _timeout(_HOUR)(app, computed.handle)
    _loop_timeout(5 * _SECOND)(app, computed.handle)
    for _ in range(2):
        app.finish(compiled, computed, "compute")
        app.expect("execution_compute", computed.result)
    for call in app.executions("one"):
        checks.that(0 < call.deadline_ns < 2**63, f"expected a deadline, found {call.deadline_ns}")
        checks.equal(call.loop_timeout_ns, 5 * _SECOND, "loop timeout that the driver got, in ns")
    first, second = (call.deadline_ns for call in app.executions("one"))
    checks.that(second > first, f"the timeout of the second computation begins anew: {first}, {second}")


@cases.case("parts", "FW-QOS-003", "FW-EXE-010", "FW-PRT-006")
def parts(context: CaseContext) -> None:
    """The loop timeout reaches the driver of each part, of each execution, in each way."""
    for hal in _hals(context):
        for way in [way for way in _WAYS if hal.is_aidl or way != "burst"]:
            with context.configuration(f"{hal.name.lower()}.{way}"):
                drivers = [driver(name.lower(), name, hal=hal, exec_time=FAST) for name in ("ADD", "MUL")]
                app = ScriptedApp(context, *drivers)
                compiled = app.compiled(chain("ADD", "MUL", "ADD"), *app.driver_names)
                for wanted in (5 * _SECOND, 7 * _SECOND):
                    computed = app.prepared_execution(compiled)
                    _loop_timeout(wanted)(app, computed.handle)
                    app.finish(compiled, computed, way)
                    app.expect(f"execution ({way})", computed.result)
                for name, count in (("add", 2), ("mul", 1)):
                    told = [call.loop_timeout_ns for call in app.executions(name)]
                    checks.equal(
                        told, [5 * _SECOND] * count + [7 * _SECOND] * count, f"loop timeouts for {name}, in ns"
                    )
                app.close()


@cases.case("deadline_beside_duration", "FW-QOS-001", "FW-EXE-023")
def deadline_beside_duration(context: CaseContext) -> None:
    """A driver gets the deadline of a fenced execution beside its duration: neither stands for the other."""
    for hal in _hals(context):
        with context.configuration(hal.name.lower()):
            app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
            call = _told_with_duration(app, 7 * _SECOND, _timeout(_HOUR))
            checks.equal(call.duration_ns, 7 * _SECOND, "duration that the driver got, in ns")
            checks.that(0 < call.deadline_ns < 2**63, f"expected a deadline beside it, found {call.deadline_ns}")
            app.close()


@cases.case("loop_timeout_over_a_burst", "FW-QOS-003", "FW-EXE-010")
def loop_timeout_over_a_burst(context: CaseContext) -> None:
    """The packets of HIDL's burst have no place for a loop timeout: a quality warning tells where it gets lost."""
    app = ScriptedApp(context, driver("one", hal=Version.V1_3, exec_time=FAST))
    call = _told(app, app.compiled(add(), "one"), "burst", _loop_timeout(5 * _SECOND))
    if call.loop_timeout_ns != 5 * _SECOND:
        context.warn_quality(f"of a loop timeout of 5 s over a burst the driver was told {call.loop_timeout_ns} ns")


def _hint(app: ScriptedApp, kind: str, target: int) -> None:
    """Give a compilation or an execution two attributes, the second one without data; neither can be given again."""
    function, data = f"{kind}_add_extension_attribute", place(app.memory, _HINT)
    for code, argument, length in ((1, data, len(_HINT)), (2, None, 0)):
        app.succeed(function, target, FIBONACCI, code, argument, length)
        app.refused(function, ResultCode.BAD_DATA, target, FIBONACCI, code, argument, length)


def _judge_hints(call: DriverCall) -> None:
    found = [(hint.token % (1 << PREFIX_BITS), hint.value) for hint in call.hints]
    checks.equal(sorted(found), [(1, _HINT), (2, b"")], "hints that the driver got, by their codes")
    checks.equal(_names(call), [FIBONACCI] * 2, "names of the extensions of the hints that the driver got")


def _names(call: DriverCall) -> list[str]:
    """The name behind the prefix of each hint; empty where the driver was told none."""
    known = {each.prefix: each.name for each in call.extensions}
    return [known.get(hint.token >> PREFIX_BITS, "") for hint in call.hints]


@cases.case("hints_of_compilations", "FW-EXT-008", "FW-CAC-005", since=Version.FL8)
def hints_of_compilations(context: CaseContext) -> None:
    """The attributes of a compilation reach the driver with their names, and the files of its cache beside them."""
    app = ScriptedApp(context, lists("one", cache_files=NumberOfCacheFiles(2, 1)))
    folder = CacheFolder(context)
    for name in ("without_cache", "with_cache"):
        with context.configuration(name):
            compilation = app.compilation(app.model(add()), app.named("one"))
            _hint(app, "compilation", compilation)
            if name == "with_cache":
                app.succeed("compilation_set_caching", compilation, folder.argument, bytes(range(32)))
            app.succeed("compilation_finish", compilation)
            call = app.last_call("one", "prepare_model")
            _judge_hints(call)
            files = (2, 1) if name == "with_cache" else (0, 0)
            checks.equal((call.model_cache, call.data_cache), files, "files for the model and for data")


@cases.case("hints", "FW-EXT-008", since=Version.FL8)
def hints(context: CaseContext) -> None:
    """The attributes of an execution reach the driver as hints, in each way to compute, and what else was said too."""

    def say(app: ScriptedApp, execution: int) -> None:
        for other in (_timeout(_HOUR), _loop_timeout(5 * _SECOND)):
            other(app, execution)
        _hint(app, "execution", execution)

    for way in _WAYS:
        with context.configuration(way):
            app = ScriptedApp(context, lists("one"))
            call = _told(app, app.compiled(add(), "one"), way, say)
            _judge_hints(call)
            checks.equal(call.loop_timeout_ns, 5 * _SECOND, "loop timeout that the driver got beside them, in ns")
            checks.that(0 < call.deadline_ns < 2**63, f"expected a deadline beside them, found {call.deadline_ns}")
            app.close()


@cases.case("each_computation", "FW-EXT-008", "FW-EXE-003", "FW-QOS-001", since=Version.FL8)
def each_computation(context: CaseContext) -> None:
    """What was said of a reusable execution reaches the driver with each of its computations, in each way."""
    for way in _WAYS:
        with context.configuration(way):
            app = ScriptedApp(context, lists("one", timing=Timing(1, 2)))
            compiled = app.compiled(add(), "one")
            computed = _said_of(app, compiled)
            app.succeed("execution_set_measure_timing", computed.handle, True)
            durations = [_measured(app, compiled, computed, way) for _ in range(_TIMES)]
            checks.equal(durations[1:], durations[:1] * (_TIMES - 1), "durations of the later computations")
            calls = app.executions("one")
            checks.equal(len(calls), _TIMES, "executions that the driver was asked for")
            for call in calls:
                _judge_hints(call)
                checks.equal(call.loop_timeout_ns, 5 * _SECOND, "loop timeout that the driver got, in ns")
            deadlines = [call.deadline_ns for call in calls]
            checks.that(0 < deadlines[0] < deadlines[1] < deadlines[2] < 2**63, f"expected later ones: {deadlines}")
            app.close()


def _measured(app: ScriptedApp, compiled: Compiled, computed: Computed, way: str) -> list[int]:
    """Compute an execution, and check its values; returns its durations, each of which is the driver's, or none."""
    for _, pointer, size in computed.places:
        app.memory.write(pointer, b"\xa5" * size)
    app.finish(compiled, computed, way)
    app.expect(f"execution ({way})", computed.result)
    app.judge(compiled.net, computed.outputs, compiled.net.expected())
    pairs = list(DurationCode)[: 4 if way == "fenced" else 2]
    found = [app.succeed("execution_get_duration", computed.handle, code, True).value for code in pairs]
    told = [1, 2, *([1, 2] if way == "fenced" else [])]
    for code, duration, one in zip(pairs, found, told, strict=True):
        checks.member(duration, (one, UNAVAILABLE_DURATION), f"duration {code.name}")
    return found


@cases.case("each_computation_over_a_burst", "FW-EXT-008", "FW-EXE-003", "FW-EXE-016", since=Version.FL8)
def each_computation_over_a_burst(context: CaseContext) -> None:
    """So it does over one burst, for a new execution as for one that is used again."""
    app = ScriptedApp(context, lists("one"))
    compiled = app.compiled(add(), "one")
    burst = app.made("burst_create", compiled.handle, True)
    lasting = _said_of(app, compiled)
    for _ in range(_TIMES):
        for computed in (lasting, _said_of(app, compiled)):
            app.take(compiled, computed, app.call("execution_burst_compute", computed.handle, burst))
            app.expect("execution_burst_compute", computed.result)
            app.judge(compiled.net, computed.outputs, compiled.net.expected())
            call = app.executions("one")[-1]
            _judge_hints(call)
            checks.equal(call.loop_timeout_ns, 5 * _SECOND, "loop timeout that the driver got, in ns")
            checks.that(0 < call.deadline_ns < 2**63, f"expected a deadline, found {call.deadline_ns}")


def _said_of(app: ScriptedApp, compiled: Compiled) -> Computed:
    """A reusable execution of which all is said that a driver gets to know."""
    computed = app.prepared_execution(compiled)
    app.succeed("execution_set_reusable", computed.handle, True)
    for say in (_timeout(_HOUR), _loop_timeout(5 * _SECOND)):
        say(app, computed.handle)
    _hint(app, "execution", computed.handle)
    return computed


@cases.case("refused_in_between", "FW-EXE-003", "FW-EXT-008", "FW-QOS-001", since=Version.FL8)
def refused_in_between(context: CaseContext) -> None:
    """What is refused between two computations of a reusable execution changes nothing that the driver is told."""
    app = ScriptedApp(context, lists("one", timing=Timing(1, 2)))
    compiled = app.compiled(add(), "one")
    computed = _said_of(app, compiled)
    app.succeed("execution_set_measure_timing", computed.handle, True)
    elsewhere = place(app.memory, bytes(64))
    described = OperandDescription(OperandType.TENSOR_FLOAT32, 2, (2, 2))
    refused: dict[str, tuple[Any, ...]] = {
        "set_timeout": (1,),
        "set_loop_timeout": (1_000_000,),
        "set_reusable": (False,),
        "set_measure_timing": (False,),
        "enable_input_and_output_padding": (True,),
        "add_extension_attribute": (FIBONACCI, 3, elsewhere, 4),
        "set_input": (0, described, elsewhere, 16),
        "set_output": (0, None, elsewhere, 16),
    }
    for function, arguments in refused.items():
        with context.configuration(function):
            before = _measured(app, compiled, computed, "compute")
            app.refused(f"execution_{function}", ResultCode.BAD_STATE, computed.handle, *arguments)
            checks.equal(_measured(app, compiled, computed, "compute"), before, "durations before and behind it")
            call = app.executions("one")[-1]
            _judge_hints(call)
            checks.equal(call.loop_timeout_ns, 5 * _SECOND, "loop timeout that the driver got, in ns")
            later = call.deadline_ns - app.executions("one")[0].deadline_ns
            checks.that(0 < later < _HOUR // 2, f"expected a deadline an hour from now, found one {later} ns later")


@cases.case("each_compilation", "FW-EXT-008", "FW-QOS-001", since=Version.FL8)
def each_compilation(context: CaseContext) -> None:
    """What was said of a compilation reaches the driver with each compilation of one model of which it is said."""
    app = ScriptedApp(context, lists("one"))
    model = app.model(add())
    for turn in range(_TIMES):
        preference = (ExecutionPreference.LOW_POWER, ExecutionPreference.SUSTAINED_SPEED)[turn % 2]
        compilation = app.compilation(model, app.named("one"))
        app.succeed("compilation_set_preference", compilation, preference)
        app.succeed("compilation_set_priority", compilation, RuntimePriority.HIGH)
        app.succeed("compilation_set_timeout", compilation, _HOUR)
        _hint(app, "compilation", compilation)
        app.succeed("compilation_finish", compilation)
        call = app.last_call("one", "prepare_model")
        _judge_hints(call)
        checks.equal((call.preference, call.priority), (preference, Priority.HIGH), "preference and priority")
        checks.that(0 < call.deadline_ns < 2**63, f"expected a deadline, found {call.deadline_ns}")
    checks.equal(len(app.calls("one", "prepare_model")), _TIMES, "preparations that the driver was asked for")
