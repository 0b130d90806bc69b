"""A driver that cannot execute: the CPU computes instead, or the app that named its devices gets the code."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from npu_conformance.cts.lib.runtime import ways
from npu_conformance.cts.lib.runtime.nets import add, chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver, failing, misbehaving
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.control import Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode, result_of_status
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.failing_drivers.execution", interface="runtime", since=Version.V1_2)

_STATUSES = tuple(
    status for status in ErrorStatus if status not in (ErrorStatus.NONE, ErrorStatus.OUTPUT_INSUFFICIENT_SIZE)
)
_CHAIN = ("ADD", "MUL", "ADD")
_UNFENCED = ("compute", "asynchronous", "burst")
_WAYS = (*_UNFENCED, "fenced")
_FENCED = {"execute_fenced", "execute_fenced_with_config"}


def _ways(app: ScriptedApp) -> tuple[str, ...]:
    return _WAYS if app.level >= Version.V1_3 else _UNFENCED


@cases.case("fenced_failure_again", "FW-EXE-013", since=Version.V1_3)
def fenced_failure_again(context: CaseContext) -> None:
    """Everybody who waits for a fenced execution that fails after its launch is told of the failure."""
    app = ScriptedApp(context, driver("broken", **misbehaving("execute", "callback")))
    compiled = app.compiled(add(), "broken")
    answer = ways.start_with_dependencies(app, app.prepared_execution(compiled).handle)
    event = ways.started(app, "execution_start_compute_with_dependencies", answer)
    if not event:
        raise NotApplicable("the runtime has waited before it returned: nobody has an event to wait for")
    for _ in range(3):
        checks.that(app.call("event_wait", event) != ResultCode.NO_ERROR, "to wait again: expected the failure again")


@cases.case("cpu_waits_for_dependencies", "FW-EXE-023", "FW-PRT-010", since=Version.V1_3)
def cpu_waits_for_dependencies(context: CaseContext) -> None:
    """The CPU that stands in for a driver waits for the dependencies: it does not compute behind one that fails."""
    app = ScriptedApp(context, driver("broken", exec_time=FAST, **failing("execute")))
    compiled = app.compiled(add())
    for fails in (True, False):
        fence = context.fence()
        gate = app.made("event_create_from_sync_fence_fd", fence, 1, True)
        computed = app.prepared_execution(compiled)
        calls: list[Callable[[], int | None]] = [
            partial(_computed_behind, app, computed.handle, gate),
            fence.fail if fails else fence.signal,
        ]
        code, _ = context.run_concurrently(calls)
        checks.that((code == 0) is not fails, f"behind a dependency that {'fails' if fails else 'succeeds'}: {code!r}")


def _computed_behind(app: ScriptedApp, execution: int, event: int) -> int:
    answer = ways.start_with_dependencies(app, execution, (event,))
    own = ways.started(app, "execution_start_compute_with_dependencies", answer)
    return ways.finished(app, own) if own else answer.result


def _declare_status(status: ErrorStatus) -> None:
    name, since = status.name.lower(), max(status.since, Version.V1_2)

    @cases.case(f"{name}.named", "FW-PRT-011", "FW-API-006", since=since)
    def named(context: CaseContext) -> None:
        """A driver that the app named and that fails ends the execution with its code, converted one to one."""
        app = ScriptedApp(context, driver("broken", **failing("execute", status)), driver("good"))
        compiled = app.compiled(add(), "broken")
        for way in _UNFENCED:
            computed = app.compute_net(compiled, way=way)
            app.expect(f"execution ({way})", computed.result, result_of_status(status))
        app.gets(good=())

    @cases.case(f"{name}.named_in_parts", "FW-PRT-011", "FW-API-006", since=since)
    def named_in_parts(context: CaseContext) -> None:
        """So it does where the driver has a part of the model, even with the CPU among the devices."""
        app = ScriptedApp(context, driver("broken", "MUL", exec_time=FAST, **failing("execute", status)))
        compiled = app.compiled(chain(*_CHAIN), "broken", "nnapi-reference")
        app.expect("execution_compute", app.compute_net(compiled).result, result_of_status(status))

    @cases.case(f"{name}.default", "FW-PRT-010", since=since)
    def default(context: CaseContext) -> None:
        """In a default compilation the CPU computes instead, by every way of executing."""
        app = ScriptedApp(context, driver("broken", exec_time=FAST, **failing("execute", status)))
        compiled = app.compiled(add())
        for way in _ways(app):
            app.computes_rightly(compiled, way)

    @cases.case(f"{name}.default_in_parts", "FW-PRT-010", since=since)
    def default_in_parts(context: CaseContext) -> None:
        """So it does where the driver has a part of the model."""
        app = ScriptedApp(context, driver("broken", "MUL", exec_time=FAST, **failing("execute", status)))
        compiled = app.compiled(chain(*_CHAIN))
        for way in _ways(app):
            app.computes_rightly(compiled, way)

    @cases.case(f"{name}.behind", "FW-EXE-023", since=max(since, Version.V1_3))
    def behind(context: CaseContext) -> None:
        """What depends on an execution that fails so is not computed, though that one has no fence."""
        app = ScriptedApp(context, driver("broken", **failing("execute", status)), driver("good"))
        answer = app.call("execution_start_compute", app.prepared_execution(app.compiled(add(), "broken")).handle, True)
        if answer.result != ResultCode.NO_ERROR:
            raise NotApplicable("the runtime computes it before it returns: nothing can depend on it")
        failed = ways.started(app, "execution_start_compute", answer)
        code = _computed_behind(app, app.prepared_execution(app.compiled(add(), "good")).handle, failed)
        checks.that(code != ResultCode.NO_ERROR, f"after an execution that fails with {status.name}: found success")


for _status in _STATUSES:
    _declare_status(_status)


@cases.case("was_tried", "FW-PRT-010")
def was_tried(context: CaseContext) -> None:
    """The driver is tried before the CPU, again in each execution."""
    app = ScriptedApp(context, driver("broken", exec_time=FAST, **failing("execute")))
    compiled = app.compiled(add())
    for count in (1, 2):
        app.computes_rightly(compiled)
        checks.equal(len(app.executions("broken")), count, "executions that the driver was asked for")


@cases.case("recovers", "FW-PRT-010", scope=Scope.SMOKE)
def recovers(context: CaseContext) -> None:
    """A driver that failed some executions is used where it succeeds again."""
    app = ScriptedApp(context, driver("moody", exec_time=FAST, **failing("execute", first=2, count=1)))
    compiled = app.compiled(chain(*_CHAIN))
    for _ in range(4):
        app.computes_rightly(compiled)
    statuses = [call.status for call in app.executions("moody")]
    checks.equal(statuses, [0, ErrorStatus.GENERAL_FAILURE, 0, 0], "statuses of the driver's executions")


@cases.case("every_part_fails", "FW-PRT-010")
def every_part_fails(context: CaseContext) -> None:
    """The CPU stands in for each of several drivers that fail."""
    broken = failing("execute")
    app = ScriptedApp(
        context, driver("one", "ADD", exec_time=FAST, **broken), driver("two", "MUL", exec_time=FAST, **broken)
    )
    app.computes_rightly(app.compiled(chain(*_CHAIN, "SUB")))


@cases.case("later_part_fails", "FW-PRT-010")
def later_part_fails(context: CaseContext) -> None:
    """A part that fails behind others: what those computed is not lost, and not taken twice."""
    for first in (1, 2):
        script = driver("moody", "ADD", exec_time=FAST, **failing("execute", first=first))
        app = ScriptedApp(context, script)
        app.computes_rightly(app.compiled(chain("ADD", "MUL", "ADD", "MUL")))
        app.close()


@cases.case("callback", "FW-PRT-010", "FW-PRT-011", "FW-API-006")
def callback(context: CaseContext) -> None:
    """A driver of HAL 1.0 to 1.3 that launches, and then says in the callback that it failed."""
    for hal in (Version.V1_0, Version.V1_1):
        fields = {"misbehaviours": (Misbehaviour("execute", "callback", int(ErrorStatus.DEVICE_UNAVAILABLE)),)}
        app = ScriptedApp(context, driver("broken", hal=hal, exec_time=FAST, **fields))
        computed = app.compute_net(app.compiled(add(), "broken"))
        app.expect("execution_compute", computed.result, ResultCode.UNAVAILABLE_DEVICE)
        app.computes_rightly(app.compiled(add()))
        app.close()


@cases.case("every_version", "FW-PRT-010", "FW-PRT-011")
def every_version(context: CaseContext) -> None:
    """The rules are the same for drivers of every HAL."""
    for hal in Version:
        app = ScriptedApp(context, driver("broken", hal=hal, exec_time=FAST, **failing("execute")))
        app.expect("execution", app.compute_net(app.compiled(add(), "broken")).result, ResultCode.OP_FAILED)
        app.computes_rightly(app.compiled(add()))
        app.close()


@cases.case("callback_with_shapes", "FW-PRT-011", "FW-API-006")
def callback_with_shapes(context: CaseContext) -> None:
    """A driver of 1.2 or 1.3 that answers by callback: any status but NONE is a failure."""
    for hal in (Version.V1_0, Version.V1_2, Version.V1_3):
        for status in (ErrorStatus.GENERAL_FAILURE, ErrorStatus.DEVICE_UNAVAILABLE):
            fields = {"misbehaviours": (Misbehaviour("execute", "callback", int(status)),)}
            app = ScriptedApp(context, driver("broken", hal=hal, **fields))
            app.control.set_property("debug.nn.syncexec-hal", "0")
            for way in ("compute", "asynchronous"):
                computed = app.compute_net(app.compiled(add(), "broken"), way=way)
                app.expect(f"execution ({way})", computed.result, result_of_status(status))
            app.close()


@cases.case("fenced_callback", "FW-PRT-011", "FW-API-006", since=Version.V1_3)
def fenced_callback(context: CaseContext) -> None:
    """A fenced execution that fails after its launch ends with the code of the status that its callback reports."""
    for status in _STATUSES:
        fields = {"misbehaviours": (Misbehaviour("execute", "callback", int(status)),)}
        app = ScriptedApp(context, driver("broken", **fields))
        computed = app.compute_net(app.compiled(add(), "broken"), way="fenced")
        app.expect("execution (fenced)", computed.result, result_of_status(status))
        app.close()


@cases.case("fenced_named", "FW-PRT-011", since=Version.V1_3)
def fenced_named(context: CaseContext) -> None:
    """A fenced execution on a driver that the app named and that fails is a failure."""
    app = ScriptedApp(context, driver("broken", **failing("execute")))
    computed = app.compute_net(app.compiled(add(), "broken"), way="fenced")
    app.expect("execution (fenced)", computed.result, ResultCode.OP_FAILED)


@cases.case("fenced_named_in_parts", "FW-PRT-011", "FW-API-006", since=Version.V1_3)
def fenced_named_in_parts(context: CaseContext) -> None:
    """A named driver that refuses to launch a part, the first or a later one, ends it with its code."""
    for first in (1, 2):
        for status in _STATUSES:
            script = driver("broken", "MUL", exec_time=FAST, **failing("execute", status, first=first))
            app = ScriptedApp(context, script, driver("good", "ADD", exec_time=FAST))
            compiled = app.compiled(chain("ADD", "MUL", "ADD", "MUL"), "broken", "good")
            computed = app.compute_net(compiled, way="fenced")
            app.expect("execution (fenced)", computed.result, result_of_status(status))
            app.close()


@cases.case("fenced_default_in_parts", "FW-PRT-010", since=Version.V1_3)
def fenced_default_in_parts(context: CaseContext) -> None:
    """A driver that refuses to launch a part, the first or a later one, is replaced by the CPU."""
    for first in (1, 2):
        script = driver("broken", "MUL", exec_time=FAST, **failing("execute", first=first))
        app = ScriptedApp(context, script, driver("good", "ADD", exec_time=FAST))
        app.computes_rightly(app.compiled(chain("ADD", "MUL", "ADD", "MUL")), "fenced")
        app.close()


@cases.case("burst_recovers", "FW-EXE-015", "FW-PRT-011")
def burst_recovers(context: CaseContext) -> None:
    """A burst over which a computation failed does the next ones."""
    for hal in (Version.V1_2, Version.V1_3, Version.FL8):
        app = ScriptedApp(context, driver("moody", hal=hal, exec_time=FAST, **failing("execute", first=2, count=1)))
        compiled = app.compiled(add(), "moody")
        burst = app.made("burst_create", compiled.handle, True)
        results = []
        for _ in range(4):
            computed = app.prepared_execution(compiled)
            app.take(compiled, computed, app.call("execution_burst_compute", computed.handle, burst))
            app.judge(compiled.net, computed.outputs, compiled.net.expected())
            results.append(computed.result)
        app.expect("execution that fails, or is computed without the burst", results.pop(1), ResultCode.OP_FAILED, 0)
        checks.equal(results, [ResultCode.NO_ERROR] * 3, "results of the others over the burst")
        app.close()


@cases.case("fenced_report", "FW-PRT-011", "FW-API-006", since=Version.V1_3)
def fenced_report(context: CaseContext) -> None:
    """A driver whose fence signals and whose callback reports a failure has failed, also with the last part alone."""
    for status in (ErrorStatus.GENERAL_FAILURE, ErrorStatus.DEVICE_UNAVAILABLE):
        fields = {"misbehaviours": (Misbehaviour("execute", "reports", int(status)),)}
        for name, net in (("whole", add()), ("last_part", chain("MUL", "ADD"))):
            with context.configuration(f"{name}.{status.name.lower()}"):
                scripts = driver("broken", "ADD", exec_time=FAST, **fields), driver("good", "MUL", exec_time=FAST)
                app = ScriptedApp(context, *scripts)
                devices = ("broken",) if name == "whole" else ("broken", "good")
                result = app.compute_net(app.compiled(net, *devices), way="fenced").result
                methods = {call.method for call in app.executions("broken")}
                if not methods or not methods <= _FENCED:
                    raise NotApplicable("the runtime does not compute it with fences")
                app.expect("execution (fenced)", result, result_of_status(status))
                app.close()


@cases.case("malformed_packet", "FW-PRT-010", "FW-PRT-011")
def malformed_packet(context: CaseContext) -> None:
    """A result packet of HIDL's burst that does not know its size is a failure, or is asked for in another way."""
    for hal in (Version.V1_2, Version.V1_3):
        for devices in ((), ("broken",)):
            script = driver("broken", hal=hal, exec_time=FAST, **misbehaving("execute", "packet"))
            app = ScriptedApp(context, script)
            compiled = app.compiled(add(), *devices)
            computed = app.compute_net(compiled, way="burst")
            asked = {call.method for call in app.executions("broken")}
            is_malformed = bool(devices) and asked == {"burst.execute_packet"}
            app.expect("execution (burst)", computed.result, ResultCode.OP_FAILED if is_malformed else 0)
            app.judge(compiled.net, computed.outputs, compiled.net.expected())
            app.close()
