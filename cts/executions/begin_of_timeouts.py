"""When timeouts begin: with the call that computes or compiles, not when they are set, nor behind what it waits for.

Real time passes here. Whether a time is met or missed is tried with longer ones too: a busy machine may miss one that
has begun in time, or be so slow that nothing was left to wait for; who begins at another moment is wrong each time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from functools import partial

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.lasting import pending
from npu_conformance.cts.lib.runtime.net_app import Compiled
from npu_conformance.cts.lib.runtime.nets import add
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import driver
from npu_conformance.cts.lib.runtime.sums import compilation_of_sum, execution_of_sum
from npu_conformance.cts.lib.runtime.ways import compute, start_with_dependencies, started, ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.executions.begin_of_timeouts", interface="runtime", since=Version.V1_3)

_SECONDS = (0.1, 0.4, 1.6)
_LONGER = 1.5
"""So many of its times pass before a call, or before what it waits for."""
_MISSED = ResultCode.MISSED_DEADLINE_PERSISTENT
_HOUR = 3600.0

Try = Callable[[float], int]
"""Makes calls with a timeout, in seconds; returns the code of the one that ends them."""


def _ends_as(expected: ResultCode, attempt: Try) -> None:
    """One of the attempts ends so."""
    found = []
    for seconds in _SECONDS:
        found.append(attempt(seconds))
        if found[-1] == expected:
            return
    checks.fail(f"codes with timeouts of {_SECONDS} s", f"{expected.name} with one of them", str(found))


def _set_timeout(app: RuntimeApp, kind: str, handle: int, seconds: float) -> None:
    app.succeed(f"{kind}_set_timeout", handle, int(seconds * 1e9))


@cases.case("set_long_before", "FW-QOS-001")
def set_long_before(context: CaseContext) -> None:
    """The timeout of an execution that was set long before is met in each way: it begins with the call."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app, devices=(app.cpu(),))
    for way in ways(app.level):
        with context.configuration(way):
            _ends_as(ResultCode.NO_ERROR, partial(_computed_late, app, compilation, way))


def _computed_late(app: RuntimeApp, compilation: int, way: str, seconds: float) -> int:
    made = execution_of_sum(app, compilation)
    _set_timeout(app, "execution", made.execution, seconds)
    time.sleep(_LONGER * seconds)
    return compute(app, way, made.execution, compilation)


@cases.case("of_each_computation", "FW-QOS-001", "FW-EXE-003", since=Version.FL5)
def of_each_computation(context: CaseContext) -> None:
    """That of a reusable execution begins with each computation anew, whichever way the one before took."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app, devices=(app.cpu(),))
    for way in ways(app.level):
        with context.configuration(way):
            _ends_as(ResultCode.NO_ERROR, partial(_computed_again, app, compilation, way))


def _computed_again(app: RuntimeApp, compilation: int, way: str, seconds: float) -> int:
    made = execution_of_sum(app, compilation, reusable=True)
    _set_timeout(app, "execution", made.execution, seconds)
    compute(app, "compute", made.execution, compilation)
    time.sleep(_LONGER * seconds)
    return compute(app, way, made.execution, compilation)


@cases.case("of_compilations", "FW-QOS-001", "FW-CMP-007")
def of_compilations(context: CaseContext) -> None:
    """That of a compilation begins when it is finished, and is over for its executions."""
    app = RuntimeApp(context)
    model = app.finished_model()
    _ends_as(ResultCode.NO_ERROR, partial(_compiled_late, app, model))


def _compiled_late(app: RuntimeApp, model: int, seconds: float) -> int:
    compilation = app.compilation(model, (app.cpu(),))
    _set_timeout(app, "compilation", compilation, seconds)
    time.sleep(_LONGER * seconds)
    code = int(app.call("compilation_finish", compilation))
    if code == ResultCode.NO_ERROR:
        time.sleep(_LONGER * seconds)
        execution_of_sum(app, compilation).computes()
    return code


_WAITS: Mapping[str, tuple[int, bool]] = {"one": (1, False), "of_two": (2, False), "of_two_reversed": (2, True)}
"""How many fences there are, and whether the late one is the last; the others have signalled."""


@cases.case("behind_fences", "FW-QOS-002", "FW-QOS-001", "FW-EXE-023")
def behind_fences(context: CaseContext) -> None:
    """The timeout of an execution with dependencies goes on while it waits: on the CPU it is missed for good then.

    So it is where the duration that begins behind the fences is long.
    """
    for name, (count, is_last) in _WAITS.items():
        for duration in (0.0, _HOUR):
            with context.configuration(f"{name}.{'duration' if duration else 'no_duration'}"):
                app = RuntimeApp(context)
                compilation = compilation_of_sum(app, devices=(app.cpu(),))
                attempt = partial(_behind_fences, app, compilation, count, is_last, duration)
                _ends_as(_MISSED, attempt)


@cases.case("behind_fences_of_drivers", "FW-QOS-001", "FW-EXE-023")
def behind_fences_of_drivers(context: CaseContext) -> None:
    """So it goes on for a driver, which is told when it ends: in a driver that keeps to that it is missed."""
    for hal in (Version.V1_3, Version.FL5, Version.FL8):
        with context.configuration(hal.name.lower()):
            app = ScriptedApp(context, driver("one", hal=hal))
            _ends_as(_MISSED, partial(_pending_behind_a_fence, app, app.compiled(add(), "one")))


def _pending_behind_a_fence(app: ScriptedApp, compiled: Compiled, seconds: float) -> int:
    made, fence = pending(app, compiled), app.context.fence()
    _set_timeout(app, "execution", made.execution, seconds)
    event = made.start(app.made("event_create_from_sync_fence_fd", fence, 1, True))
    time.sleep(_LONGER * seconds)
    fence.signal()
    return made.end(event)


def _behind_fences(
    app: RuntimeApp, compilation: int, count: int, is_last: bool, duration: float, seconds: float
) -> int:
    made = execution_of_sum(app, compilation)
    _set_timeout(app, "execution", made.execution, seconds)
    fences = [app.context.fence() for _ in range(count)]
    late = fences[-1 if is_last else 0]
    for fence in fences:
        if fence is not late:
            fence.signal()
    events = tuple(app.made("event_create_from_sync_fence_fd", fence, 1, True) for fence in fences)
    later = threading.Timer(_LONGER * seconds, late.signal)  # which is no call: a runtime need not take two at once
    later.start()
    try:
        answer = start_with_dependencies(app, made.execution, events, int(duration * 1e9))
        own = started(app, "execution_start_compute_with_dependencies", answer)
        return int(app.call("event_wait", own)) if own else answer.result
    finally:
        later.join()
