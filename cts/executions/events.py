"""Events, the fences behind them, and executions that depend on others."""

from __future__ import annotations

from functools import partial
from typing import cast

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.sums import (
    FIRST,
    SECOND,
    compilation_of_sum,
    execution_of_sum,
    failing_compilation,
    failing_execution,
)
from npu_conformance.cts.lib.runtime.ways import start_with_dependencies, started
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import FenceState
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL, Handle
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.executions.events", interface="runtime")

_START = {"asynchronous": Version.V1_0, "fenced": Version.V1_3}
_LENGTH = 6


def _starts(app: RuntimeApp) -> tuple[str, ...]:
    return tuple(name for name, since in _START.items() if since <= app.level)


def _event(app: RuntimeApp, how: str, execution: int, dependencies: tuple[int, ...] = ()) -> int:
    """Start an execution; returns its event."""
    if how == "fenced":
        answer = start_with_dependencies(app, execution, dependencies)
        app.expect("execution_start_compute_with_dependencies", answer.result)
        return started(app, "execution_start_compute_with_dependencies", answer)
    answer = app.succeed("execution_start_compute", execution, True)
    return started(app, "execution_start_compute", answer)


@cases.case("wait_again", "FW-EXE-013")
def wait_again(context: CaseContext) -> None:
    """An event can be waited for again, and says the same."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for how in _starts(app):
        with context.configuration(how):
            made = execution_of_sum(app, compilation)
            event = _event(app, how, made.execution)
            for _ in range(3):
                app.succeed("event_wait", event)
            made.check()


@cases.case("failure_again", "FW-EXE-013")
def failure_again(context: CaseContext) -> None:
    """Everybody who waits for the event of an execution that fails is told of the same failure."""
    app = RuntimeApp(context)
    compilation = failing_compilation(app)
    for how in _starts(app):
        with context.configuration(how):
            answer = _started(app, how, failing_execution(app, compilation))
            if answer.result != ResultCode.NO_ERROR:
                continue  # it failed before there was an event to wait for
            event = started(app, "execution_start_compute", answer)
            first = app.call("event_wait", event)
            checks.that(first != ResultCode.NO_ERROR, "an execution that fails: expected a failure")
            for _ in range(2):
                checks.equal(app.call("event_wait", event), first, "result of the event, told again")


@cases.case("wait_at_once", "FW-EXE-013")
def wait_at_once(context: CaseContext) -> None:
    """Several threads wait for one event, and each is told the result."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for how in _starts(app):
        with context.configuration(how):
            made = execution_of_sum(app, compilation)
            event = _event(app, how, made.execution)
            results = context.run_concurrently([partial(app.call, "event_wait", event)] * 4)
            checks.equal(results, [ResultCode.NO_ERROR] * 4, "results of four threads")
            made.check()


@cases.case("free_waits", "FW-EXE-013", "FW-API-003")
def free_waits(context: CaseContext) -> None:
    """To free an event without waiting for it waits: the result is there when it returns."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for how in _starts(app):
        with context.configuration(how):
            made = execution_of_sum(app, compilation)
            app.free(_event(app, how, made.execution))
            made.check()


@cases.case("many_at_once", "FW-EXE-013", "FW-GEN-008")
def many_at_once(context: CaseContext) -> None:
    """Executions of one compilation that are all started before the first is waited for give their own results."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for how in _starts(app):
        with context.configuration(how):
            made = [execution_of_sum(app, compilation, (float(number), 0.0)) for number in range(_LENGTH)]
            events = [_event(app, how, each.execution) for each in made]
            for event in reversed(events):
                app.succeed("event_wait", event)
            for number, each in enumerate(made):
                each.check((number + SECOND[0], SECOND[1]))


@cases.case("started_twice", "FW-EXE-012", "FW-EXE-002")
def started_twice(context: CaseContext) -> None:
    """To start an execution again is refused without an event, and the first computation goes on."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    made = execution_of_sum(app, compilation)
    event = _event(app, "asynchronous", made.execution)
    answer = app.refused("execution_start_compute", ResultCode.BAD_STATE, made.execution, True)
    checks.equal(answer.handle, NULL, "event of an execution that was not started")
    app.succeed("event_wait", event)
    made.check()


@cases.case("free_while_running", "FW-EXE-021", since=Version.V1_3)
def free_while_running(context: CaseContext) -> None:
    """To free an execution that has been started and not waited for is harmless, whether it is over or not."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for how in _starts(app):
        with context.configuration(how):
            made = execution_of_sum(app, compilation)
            event = _event(app, how, made.execution)
            app.free(made.execution)
            app.succeed("event_wait", event)
            made.check()


@cases.case("chain", "FW-EXE-023", since=Version.V1_3)
def chain(context: CaseContext) -> None:
    """In a chain each execution adds to what the one before it has written, whatever kind of event that gave."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for how in _starts(app):
        with context.configuration(how):
            made = execution_of_sum(app, compilation)
            events = [_event(app, how, made.execution)]
            for _ in range(_LENGTH):
                made = execution_of_sum(app, compilation, made.output)
                events.append(_event(app, "fenced", made.execution, (events[-1],)))
            app.succeed("event_wait", events[-1])
            made.check((FIRST[0] + (_LENGTH + 1) * SECOND[0], FIRST[1] + (_LENGTH + 1) * SECOND[1]))


@cases.case("several_dependencies", "FW-EXE-023", since=Version.V1_3)
def several_dependencies(context: CaseContext) -> None:
    """An execution waits for all the events it depends on, of either kind, also where one is named twice."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    left, right = execution_of_sum(app, compilation), execution_of_sum(app, compilation)
    first = _event(app, "asynchronous", left.execution)
    second = _event(app, "fenced", right.execution)
    both = execution_of_sum(app, compilation, left.output, right.output)
    app.succeed("event_wait", _event(app, "fenced", both.execution, (first, second, first)))
    both.check((3.5, 4.0))


@cases.case("shared_dependency", "FW-EXE-023", since=Version.V1_3)
def shared_dependency(context: CaseContext) -> None:
    """Several executions depend on one event, which is freed while they may still run."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    root = execution_of_sum(app, compilation)
    event = _event(app, "fenced", root.execution)
    made = [execution_of_sum(app, compilation, root.output) for _ in range(_LENGTH)]
    events = [_event(app, "fenced", each.execution, (event,)) for each in made]
    app.free(event)
    for each, end in zip(made, events, strict=True):
        app.succeed("event_wait", end)
        each.check((2.0, 6.0))


@cases.case("failed_dependency", "FW-EXE-023", since=Version.V1_3)
def failed_dependency(context: CaseContext) -> None:
    """An execution fails with any one of its dependencies, when it is started or when it is waited for."""
    app = RuntimeApp(context)
    compilation, failing = compilation_of_sum(app), failing_compilation(app)
    for how in _starts(app):
        with context.configuration(how):
            failed = _started(app, how, failing_execution(app, failing))
            if failed.result != ResultCode.NO_ERROR:
                continue
            event = started(app, "execution_start_compute", failed)
            for other in _starts(app):
                good = _event(app, other, execution_of_sum(app, compilation).execution)
                for dependencies in ((good, event), (event, good), (good, event, good)):
                    code = _end_behind(app, execution_of_sum(app, compilation).execution, dependencies)
                    checks.that(code != ResultCode.NO_ERROR, "an execution behind one that failed: expected a failure")
            execution_of_sum(app, compilation).computes("fenced")


def _started(app: RuntimeApp, how: str, execution: int) -> Handle:
    if how == "fenced":
        return start_with_dependencies(app, execution)
    return cast(Handle, app.call("execution_start_compute", execution, True))


@cases.case("signalled_fence", "FW-EXE-023", "FW-EXE-025", since=Version.V1_3)
def signalled_fence(context: CaseContext) -> None:
    """An execution may depend on a sync fence from elsewhere that has signalled; its event can be waited for."""
    app = RuntimeApp(context)
    fence = context.fence()
    fence.signal()
    gate = app.made("event_create_from_sync_fence_fd", fence, 1, True)
    app.succeed("event_wait", gate)
    made = execution_of_sum(app, compilation_of_sum(app))
    app.succeed("event_wait", _event(app, "fenced", made.execution, (gate,)))
    made.check()


@cases.case("failed_fence", "FW-EXE-023", since=Version.V1_3)
def failed_fence(context: CaseContext) -> None:
    """An execution that depends on a sync fence in error fails, whichever of its fences that is."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    good, failed = context.fence(), context.fence()
    good.signal()
    failed.fail()
    sound, broken = (app.made("event_create_from_sync_fence_fd", fence, 1, True) for fence in (good, failed))
    code = app.call("event_wait", broken)
    checks.that(code != ResultCode.NO_ERROR, "to wait for a fence in error: expected a failure")
    for name, gates in {"alone": (broken,), "first": (broken, sound), "last": (sound, sound, broken)}.items():
        with context.configuration(name):
            code = _end_behind(app, execution_of_sum(app, compilation).execution, gates)
            checks.that(code != ResultCode.NO_ERROR, "an execution behind a fence in error: expected a failure")


def _end_behind(app: RuntimeApp, execution: int, dependencies: tuple[int, ...]) -> int:
    """Start behind events, and wait; returns the code with which it was not started, or with which it ended."""
    answer = start_with_dependencies(app, execution, dependencies)
    if answer.result != ResultCode.NO_ERROR:
        return answer.result
    return int(app.call("event_wait", started(app, "execution_start_compute_with_dependencies", answer)))


@cases.case("fence_of_event", "FW-EXE-024", since=Version.V1_3)
def fence_of_event(context: CaseContext) -> None:
    """An event gives a fence that signals, or says that it has none; one of an event without a fence is refused."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    refusals = (ResultCode.BAD_DATA, ResultCode.OP_FAILED)
    for how in _starts(app):
        with context.configuration(how):
            made = execution_of_sum(app, compilation)
            event = _event(app, how, made.execution)
            answer = app.call("event_get_sync_fence_fd", event, True)
            app.expect("event_get_sync_fence_fd", answer.result, ResultCode.NO_ERROR, *refusals)
            has_fence = answer.result == ResultCode.NO_ERROR
            checks.equal(answer.fence is not None, has_fence, "whether there is a fence")
            checks.that(not (has_fence and how == "asynchronous"), "startCompute gives an event without a fence")
            app.succeed("event_wait", event)
            if answer.fence is not None:
                checks.equal(answer.fence.get_state(), FenceState.SIGNALLED, "state of the fence of an event")


@cases.case("fence_of_fence", "FW-EXE-024", since=Version.V1_3)
def fence_of_fence(context: CaseContext) -> None:
    """An event made of a sync fence gives that fence back, and outlives the original descriptor."""
    app = RuntimeApp(context)
    fence = context.fence()
    event = app.made("event_create_from_sync_fence_fd", fence, 1, True)
    answer = app.succeed("event_get_sync_fence_fd", event, True)
    checks.that(answer.fence is not None, "event_get_sync_fence_fd: expected a fence")
    checks.equal(answer.fence.get_state(), FenceState.UNSIGNALLED, "state of the fence")
    fence.signal()
    app.succeed("event_wait", event)
    checks.equal(answer.fence.get_state(), FenceState.SIGNALLED, "state of the fence once it has signalled")
