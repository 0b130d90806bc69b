"""What reaches a driver of each HAL of what the app says: ways to execute, preference, priority, deadlines, timing."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.net_app import Compiled, Options
from npu_conformance.cts.lib.runtime.nets import NetBuilder, add, chain, net_of
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference, Priority
from npu_conformance.specs.neuralnetworks.runtime.control import DriverCall
from npu_conformance.specs.neuralnetworks.runtime.result_codes import RuntimePriority
from npu_conformance.specs.versions import HIDL_LAST, Version

cases = CaseGroup("cts.version_adaptation.calls", interface="runtime", since=Version.V1_3)

_HOUR = 3_600_000_000_000
_NO_DEADLINE = (-1, 0, 2**64 - 1)


def _app(context: CaseContext, hal: Version) -> ScriptedApp:
    return ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))


def _preparation(app: ScriptedApp, options: Options) -> DriverCall:
    app.computes_rightly(app.compiled(add(), "one", options=options))
    return app.called_once("one", "prepare_model")


Run = Callable[[CaseContext, Version], None]


def _with_each_hal(name: str, *requirements: str, scope: Scope = Scope.DEFAULT) -> Callable[[Run], Run]:
    """Declare a case for the drivers of each HAL, as `cases.case` does for one."""

    def declare(run: Run) -> Run:
        for hal in Version:
            _declare(f"{_word(hal)}.{name}", requirements, scope, run, hal)
        return run

    return declare


def _declare(name: str, requirements: tuple[str, ...], scope: Scope, run: Run, hal: Version) -> None:
    def with_hal(context: CaseContext) -> None:
        run(context, hal)

    with_hal.__doc__ = run.__doc__
    cases.case(name, *requirements, since=max(hal, Version.V1_3), scope=scope)(with_hal)


def _word(hal: Version) -> str:
    return hal.value if hal.is_aidl else f"v{hal.value.replace('.', '_')}"


@_with_each_hal("preference", "FW-VER-001")
def preference(context: CaseContext, hal: Version) -> None:
    """The preference reaches drivers of 1.1 and later."""
    for wanted in ExecutionPreference:
        app = _app(context, hal)
        found = _preparation(app, Options(preference=int(wanted))).preference
        if hal >= Version.V1_1:
            checks.equal(found, int(wanted), f"preference that a driver of {hal} got")
        else:
            checks.member(found, (-1, int(ExecutionPreference.FAST_SINGLE_ANSWER)), "preference for a driver of 1.0")
        app.close()


@_with_each_hal("priority", "FW-VER-001")
def priority(context: CaseContext, hal: Version) -> None:
    """The priority reaches drivers of 1.3 and later."""
    for wanted in RuntimePriority:
        app = _app(context, hal)
        found = _preparation(app, Options(priority=int(wanted))).priority
        if hal >= Version.V1_3:
            checks.equal(found, int(Priority[wanted.name]), f"priority that a driver of {hal} got")
        else:
            checks.member(found, (-1, int(Priority.MEDIUM)), f"priority that a driver of {hal} got")
        app.close()


@_with_each_hal("deadlines", "FW-VER-001")
def deadlines(context: CaseContext, hal: Version) -> None:
    """Deadlines of compilation and execution reach drivers of 1.3 and later."""
    app = _app(context, hal)
    compiled = app.compiled(add(), "one", options=Options(timeout_ns=_HOUR))
    computed = app.prepared_execution(compiled)
    app.succeed("execution_set_timeout", computed.handle, _HOUR)
    app.finish(compiled, computed, "compute")
    app.expect("execution_compute", computed.result)
    for call in (*app.calls("one", "prepare_model"), *app.executions("one")):
        _judge_deadline(hal, call, has_one=True)


@_with_each_hal("no_deadlines", "FW-VER-001")
def no_deadlines(context: CaseContext, hal: Version) -> None:
    """Without timeouts there are no deadlines; timeouts of 0 are none."""
    app = _app(context, hal)
    compiled = app.compiled(add(), "one", options=Options(timeout_ns=0))
    app.computes_rightly(compiled)
    for call in (*app.calls("one", "prepare_model"), *app.executions("one")):
        _judge_deadline(hal, call, has_one=False)


@_with_each_hal("ways", "FW-VER-001", "FW-PRT-006", scope=Scope.SMOKE)
def ways(context: CaseContext, hal: Version) -> None:
    """Every way of executing works with the driver, through what its HAL has."""
    app = _app(context, hal)
    compiled = app.compiled(add(), "one")
    for way in ("compute", "asynchronous", "burst", "fenced"):
        app.computes_rightly(compiled, way)
    _judge_methods(hal, {call.method for call in app.executions("one")})


@_with_each_hal("in_parts", "FW-VER-001", "FW-PRT-006")
def in_parts(context: CaseContext, hal: Version) -> None:
    """So it does with a driver that has a part of a model."""
    app = ScriptedApp(context, driver("one", "ADD", hal=hal, exec_time=FAST))
    compiled = app.compiled(chain("ADD", "MUL", "ADD"))
    for way in ("compute", "asynchronous", "burst", "fenced"):
        app.computes_rightly(compiled, way)


@_with_each_hal("without_features", "FW-VER-001")
def without_features(context: CaseContext, hal: Version) -> None:
    """A driver that has neither bursts nor fences is used by other ways."""
    app = ScriptedApp(context, driver("one", hal=hal, has_burst=False, has_fences=False, has_buffers=False))
    compiled = app.compiled(add(), "one")
    for way in ("compute", "asynchronous", "burst"):
        app.computes_rightly(compiled, way)


def _judge_deadline(hal: Version, call: DriverCall, *, has_one: bool) -> None:
    if hal >= Version.V1_3 and has_one:
        checks.that(0 < call.deadline_ns < 2**63, f"{call.method}: expected a deadline, found {call.deadline_ns}")
    else:
        checks.member(call.deadline_ns, _NO_DEADLINE, f"deadline of {call.method} for a driver of {hal}")


def _judge_methods(hal: Version, methods: set[str]) -> None:
    """Check that no driver was asked for an execution that its HAL does not have."""
    if hal < Version.V1_2:
        checks.equal(methods, {"execute"}, f"methods by which a driver of {hal} was executed")
    if hal.is_aidl:
        checks.that("execute" not in methods, f"methods for a driver of {hal}: expected no asynchronous execution")
    if hal < Version.V1_3:
        fenced = [method for method in methods if "fenced" in method]
        checks.equal(fenced, [], f"fenced executions of a driver of {hal}")
    else:
        checks.that(any("fenced" in method for method in methods), f"methods: expected a fenced one, found {methods}")


@cases.case("burst_dimensions", "FW-VER-001", "FW-EXE-005")
def burst_dimensions(context: CaseContext) -> None:
    """Sizes that the request alone knows reach a driver of 1.2 or 1.3 in the packets of a burst too."""
    for hal in (Version.V1_2, Version.V1_3):
        app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
        for unknown in ((0, 2), (2, 0), (0, 0)):
            vector = add().vector
            opened = {name: replace(vector.operands[name], dimensions=unknown) for name in vector.inputs}
            net = net_of(replace(vector, operands={**vector.operands, **opened}))
            compiled = app.compiled(net, "one")
            for way in ("compute", "burst"):
                app.computes_rightly(compiled, way)
        app.close()


@cases.case("asynchronous_by_property", "FW-VER-001")
def asynchronous_by_property(context: CaseContext) -> None:
    """HIDL drivers of 1.2 and later execute synchronously; by debug.nn.syncexec-hal 0 asynchronously."""
    for hal in (Version.V1_2, HIDL_LAST):
        for value, expected in (("", "execute_synchronously"), ("0", "execute")):
            app = _app(context, hal)
            app.control.set_property("debug.nn.syncexec-hal", value)
            app.computes_rightly(_compiled(app))
            methods = {call.method for call in app.executions("one")}
            checks.equal(methods, {expected}, f"methods by which a driver of {hal} was executed")
            app.close()


def _compiled(app: ScriptedApp) -> Compiled:
    return app.compiled(add(), "one")


@_with_each_hal("read_several_times", "FW-VER-001", "NNHAL-MODEL-050")
def read_several_times(context: CaseContext, hal: Version) -> None:
    """Operands that an operation reads twice, or several operations read, reach drivers in a model without mistakes.

    Drivers up to 1.3 are told how often each is read.
    """
    app, builder = _app(context, hal), NetBuilder()
    first, constant = builder.input(), builder.constant()
    double = builder.binary("ADD", first, first)
    square = builder.binary("MUL", double, double)
    total = builder.binary("ADD", builder.binary("ADD", square, double), builder.binary("MUL", constant, constant))
    app.computes_rightly(app.compiled(builder.net(total), "one"))
    app.prepared_once("one")


@cases.case("loop_timeout", "FW-VER-001")
def loop_timeout(context: CaseContext) -> None:
    """The loop timeout reaches drivers of 1.3 and later."""
    newest = Version.FL8 if context.manifest.feature_level.is_aidl else HIDL_LAST
    for hal in (Version.V1_2, HIDL_LAST, newest):
        app = _app(context, hal)
        compiled = _compiled(app)
        computed = app.prepared_execution(compiled)
        app.succeed("execution_set_loop_timeout", computed.handle, 5_000_000_000)
        app.finish(compiled, computed, "compute")
        app.expect("execution_compute", computed.result)
        call = app.executed_once("one")
        if hal >= Version.V1_3:
            checks.equal(call.loop_timeout_ns, 5_000_000_000, f"loop timeout that a driver of {hal} got")
        else:
            checks.member(call.loop_timeout_ns, _NO_DEADLINE, f"loop timeout that a driver of {hal} got")
        app.close()
