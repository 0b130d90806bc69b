"""Times that count from a moment of their own, and not from the call on: timeouts of loops, durations behind fences.

Each case waits for longer than the time may last before its moment comes. A busy machine may miss a time for all that,
so that it is tried with longer ones too; whoever counts from the call on misses each of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial

from npu_conformance.cts.lib.runtime.control_flow_nets import two_loops
from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.nets import add
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver, misbehaving
from npu_conformance.cts.lib.runtime.sums import compilation_of_sum, execution_of_sum
from npu_conformance.cts.lib.runtime.vector_run import MISSED
from npu_conformance.cts.lib.runtime.ways import start_with_dependencies, started
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks.runtime.devices import CPU
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.executions.own_times", interface="runtime", since=Version.V1_3)

_SECONDS = (0.1, 0.4, 1.6)
_LONGER = 1.5
"""For so many of its times nothing happens before a time begins."""

Try = Callable[[CaseContext, float], int]
"""Computes behind what takes longer than a time, in seconds; returns the code."""


def _is_met(context: CaseContext, attempt: Try) -> None:
    """One of the times is met, however long it takes until it begins."""
    codes = (attempt(context, seconds) for seconds in _SECONDS)
    met = next((code for code in codes if code == ResultCode.NO_ERROR), None)
    checks.that(met is not None, f"a time that begins late is missed, though it lasts {_SECONDS[-1]} s")


def _held_for(context: CaseContext, seconds: float, call: Callable[[], int], let_go: Callable[[], object]) -> int:
    """Make a call, and let go what holds it once so many seconds are over; returns its code."""
    begun = threading.Event()

    def called() -> int:
        begun.set()
        return call()

    def let_go_late() -> int:
        begun.wait()
        time.sleep(seconds)
        let_go()
        return ResultCode.NO_ERROR

    calls: list[Callable[[], int]] = [called, let_go_late]
    try:
        code, _ = context.run_concurrently(calls)
    except NotApplicable:  # the runtime takes one call at a time, and whoever closes it would wait
        let_go()
        raise
    if isinstance(code, InterfaceError):
        raise code
    return code


@cases.case("loops", "FW-QOS-003", "FW-QOS-004")
def loops(context: CaseContext) -> None:
    """Each loop of an execution has the whole timeout, however long the loop and the steps before it take."""
    for way in ("compute", "fenced"):
        with context.configuration(way):
            _is_met(context, partial(_two_loops, way=way))


def _two_loops(context: CaseContext, seconds: float, way: str) -> int:
    """A loop, a product that its driver holds, and the loop again."""
    app = ScriptedApp(context, driver("holds", "MUL", exec_time=FAST, **misbehaving("execute", "blocks")))
    compiled = app.compiled(two_loops("MUL"))
    computed = app.prepared_execution(compiled)
    app.succeed("execution_set_loop_timeout", computed.handle, int(seconds * 1e9))
    call, let_go = partial(app.run, compiled, computed.handle, way), partial(app.control.release, "holds")
    code = _held_for(context, _LONGER * seconds, call, let_go)
    app.take(compiled, computed, code)
    app.judge(compiled.net, computed.outputs, compiled.net.expected())
    app.close()
    return code


@cases.case("each_loop_ends", "FW-QOS-003", "FW-PRT-012")
def each_loop_ends(context: CaseContext) -> None:
    """Each of two loops is aborted where it has no end, with the code of a deadline."""
    import numpy

    app = ScriptedApp(context, driver("multiplies", "MUL", exec_time=FAST))
    compiled = app.compiled(two_loops("MUL"))
    net = compiled.net
    for name, place in (("first", 2), ("second", 4)):
        for way in ("compute", "fenced"):
            with context.configuration(f"{name}.{way}"):
                bound = net.vector.inputs[place]
                inputs = {**net.inputs, bound: numpy.full_like(net.inputs[bound], 2**31 - 1)}
                computed = app.prepared_execution(compiled, inputs)
                app.succeed("execution_set_loop_timeout", computed.handle, 50_000_000)
                app.expect(f"execution ({way})", app.run(compiled, computed.handle, way), *MISSED)


@cases.case("duration_behind_a_fence", "FW-QOS-001", "FW-EXE-023")
def duration_behind_a_fence(context: CaseContext) -> None:
    """On the CPU the duration of an execution with dependencies begins once their fences have signalled."""
    _is_met(context, _behind_a_fence)


def _behind_a_fence(context: CaseContext, seconds: float) -> int:
    app, gate = RuntimeApp(context), context.fence()
    made = execution_of_sum(app, compilation_of_sum(app, devices=(app.cpu(),)))
    event = app.made("event_create_from_sync_fence_fd", gate, 1, True)
    later = threading.Timer(_LONGER * seconds, gate.signal)  # which is no call: a runtime need not take two at once
    later.start()
    try:
        return _computed_behind(app, made.execution, event, seconds)
    finally:
        later.join()


def _computed_behind(app: RuntimeApp, execution: int, event: int, seconds: float) -> int:
    answer = start_with_dependencies(app, execution, (event,), int(seconds * 1e9))
    own = started(app, "execution_start_compute_with_dependencies", answer)
    return int(app.call("event_wait", own)) if own else answer.result


@cases.case("duration_behind_an_event", "FW-QOS-001", "FW-EXE-023")
def duration_behind_an_event(context: CaseContext) -> None:
    """So it does where a dependency has no fence, whoever computes: a driver is told the whole duration."""
    _is_met(context, partial(_behind_an_event, device=CPU))
    app = ScriptedApp(context, driver("holds", **misbehaving("execute", "blocks")), driver("good"))
    _started_behind(context, app, "good", _SECONDS[0])
    told = app.executed_once("good").duration_ns
    checks.equal(told, int(_SECONDS[0] * 1e9), "duration that the driver got, in ns")


def _behind_an_event(context: CaseContext, seconds: float, device: str) -> int:
    app = ScriptedApp(context, driver("holds", **misbehaving("execute", "blocks")))
    code = _started_behind(context, app, device, seconds)
    app.close()
    return code


def _started_behind(context: CaseContext, app: ScriptedApp, device: str, seconds: float) -> int:
    """Compute on a device after an execution that its driver holds for longer than the duration."""
    held = app.prepared_execution(app.compiled(add(), "holds"))
    event = app.started(held.handle)
    computed = app.prepared_execution(app.compiled(add(), device))
    call = partial(_computed_behind, app, computed.handle, event, seconds)
    return _held_for(context, _LONGER * seconds, call, partial(app.control.release, "holds"))
