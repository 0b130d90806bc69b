"""Launches fenced executions, waits for their ends, and checks what holds for each of them whatever it computes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import msgspec
from msgspec.structs import asdict

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Hung
from npu_conformance.harness.run.executing.execution import (
    Execution,
    ExecutionOptions,
    Surroundings,
    config_of,
    timing_rules,
)
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import MISSED, ErrorStatus, FenceState
from npu_conformance.specs.neuralnetworks.fences import SettableFence
from npu_conformance.specs.neuralnetworks.hal import (
    Fence,
    FencedExecutionCallback,
    FencedExecutionResult,
    PreparedModel,
    documented_statuses,
)
from npu_conformance.specs.neuralnetworks.types import Request, Timing
from npu_conformance.specs.versions import Version

PLAIN, WITH_CONFIG = "executeFenced", "executeFencedWithConfig"

_GRACE_SECONDS = 0.25
"""How long a call may last before its wait fences are settled: a driver may be waiting for them in the call."""

_SLICE_NS = 50_000_000
"""How long one `fence.wait` lasts at most: a driver of one thread can do nothing else meanwhile."""


def forms(version: Version) -> tuple[str, ...]:
    """The methods by which a prepared model executes with fences."""
    return (PLAIN, WITH_CONFIG) if version >= Version.FL8 else (PLAIN,)


class FencedOptions(ExecutionOptions, frozen=True):
    """What a fenced execution is asked for, beside request and fences. form: the method by which it is launched."""

    form: str = PLAIN


def fenced_options(options: ExecutionOptions, form: str) -> FencedOptions:
    """The options of any execution, to be launched in a form."""
    return FencedOptions(**asdict(options), form=form)


class Launched(msgspec.Struct, weakref=True):
    """What a call came to. is_waiting: it returned before any of its open wait fences was settled."""

    status: int
    callback: FencedExecutionCallback | None = None
    fence: Fence | None = None
    is_waiting: bool = False
    settle: Callable[[], None] = msgspec.field(default=lambda: None)


class Outcome(msgspec.Struct, frozen=True):
    """How a fenced execution ended: both times None where the call itself failed."""

    status: int
    launched: Timing | None = None
    fenced: Timing | None = None


class _WhileItLasts:
    """Settles the wait fences of a call that does not return before they are settled, after so many seconds."""

    def __init__(self, settle: Callable[[], None], seconds: float) -> None:
        self._settle = settle
        self._lock = threading.Lock()
        self.done = False
        self._timer = threading.Timer(seconds, self.settle)
        self._timer.daemon = True
        self._timer.start()

    def settle(self) -> None:
        """Settle the fences, unless that has been done."""
        with self._lock:
            done, self.done = self.done, True
        if not done:
            self._settle()

    def call_ended(self) -> bool:
        """Stop waiting for the call. True where nothing has been settled."""
        self._timer.cancel()
        with self._lock:
            return not self.done


def launch(
    context: Surroundings,
    prepared_model: PreparedModel,
    request: Request,
    wait_for: tuple[Fence | None, ...] = (),
    options: FencedOptions | None = None,
    *,
    settle: Callable[[], None] | None = None,
    held_by: Fence | None = None,
) -> Launched:
    """Launch. settle: signals or fails all fences that are open; done by a thread where the call waits for them.

    held_by: the client's fence on which those of a chain depend; else the wait fences themselves are looked at.
    Afterwards the case calls `Launched.settle`, which settles what is still open. Fails without a callback in a success
    (NNHAL-FENCED-009), and where an empty fence says that the end came before the wait fences were settled.
    """
    is_open = any(map(_is_open, wait_for if held_by is None else (held_by,)))
    during = None if settle is None else _WhileItLasts(settle, _GRACE_SECONDS * context.manifest.time_scale)
    status: int = ErrorStatus.NONE
    try:
        result = _call(context.version, prepared_model, request, wait_for, options or FencedOptions())
    except ServiceError as error:
        status, result = error.status, FencedExecutionResult(None, None)
    finally:
        is_waiting = during is not None and during.call_ended() and is_open
    _documented(context, status, "executeFenced")
    if status == ErrorStatus.NONE:
        with checks.about("NNHAL-FENCED-009"):
            checks.that(result.callback is not None, "executeFenced with status NONE: expected a callback, found null")
        early = "an empty fence, so the work has finished: expected it to wait for its wait fence"
        with checks.about("NNHAL-FENCED-005"):
            checks.that(not (is_waiting and result.sync_fence is None), early)
    return Launched(status, result.callback, result.sync_fence, is_waiting, during.settle if during else lambda: None)


def finish(context: Surroundings, launched: Launched, *, measured: bool = False) -> Outcome:
    """Wait for the end and ask how it went. Hung where the fence never signals; `measured`: times were asked for."""
    if launched.callback is None:
        return Outcome(launched.status)
    state = FenceState.SIGNALLED if launched.fence is None else wait(context, launched.fence)
    with checks.about("NNHAL-FENCED-014"):
        info = checks.succeeds(launched.callback.get_execution_info, "getExecutionInfo")
        failed = "the returned fence is in error: expected a failure, found NONE"
        checks.that(state != FenceState.ERROR or info.status != ErrorStatus.NONE, failed)
    _documented(context, info.status, "getExecutionInfo")
    if state == FenceState.SIGNALLED and launched.fence is not None:
        aborted = info.status in MISSED
        with checks.about("NNHAL-FENCED-011"):
            checks.that(not aborted, "the work was aborted: expected the returned fence in error, found it signalled")
    outcome = Outcome(info.status, info.timing_launched, info.timing_fenced)
    _timings(context, outcome, measured)
    return outcome


def execution_of(context: Surroundings, launched: Launched, *, measured: bool) -> Execution:
    """As finish, with the answer that other executors give."""
    outcome = finish(context, launched, measured=measured)
    return Execution(outcome.status, (), outcome.launched)


@checks.about("NNHAL-FENCED-006")
def wait(context: Surroundings, fence: Fence, seconds: float | None = None) -> int:
    """Wait for a fence of the driver, until the manifest's deadline of executions; return its state.

    seconds: wait as long at most, and return UNSIGNALLED; without it, Hung.
    """
    limit = context.manifest.deadlines.execute * context.manifest.time_scale if seconds is None else seconds
    end = time.monotonic() + limit
    state = fence.wait(min(_SLICE_NS, int(limit * 1e9)))
    while state == FenceState.UNSIGNALLED and time.monotonic() < end:
        state = fence.wait(_SLICE_NS)
    if state == FenceState.UNSIGNALLED and seconds is None:
        raise Hung(f"the returned fence was not signalled within {limit:g} s")
    checks.member(state, set(FenceState), "state of the returned fence")
    if state != FenceState.UNSIGNALLED:  # which it need not be any more
        checks.equal(fence.get_state(), state, "state of the returned fence, asked for after it was waited for")
    return state


def _call(
    version: Version,
    prepared_model: PreparedModel,
    request: Request,
    wait_for: tuple[Fence | None, ...],
    options: FencedOptions,
) -> FencedExecutionResult:
    deadline, loop_timeout, duration = (
        version.unavailable_time if time_ns == -1 else time_ns
        for time_ns in (options.deadline, options.loop_timeout, options.duration)
    )
    if options.form == PLAIN:
        return prepared_model.execute_fenced(request, wait_for, options.measure, deadline, loop_timeout, duration)
    fences = tuple(fence for fence in wait_for if fence is not None)
    return prepared_model.execute_fenced_with_config(request, fences, config_of(options), deadline, duration)


def _is_open(fence: Fence | None) -> bool:
    """True of a fence of the client that has not been settled."""
    return isinstance(fence, SettableFence) and fence.get_state() == FenceState.UNSIGNALLED


def _documented(context: Surroundings, status: int, what: str) -> None:
    """A status outside of its list, OUTPUT_INSUFFICIENT_SIZE above all, is never legal."""
    letters = "NUGAMR" if what == "executeFenced" else "NUGMR"
    insufficient = status == ErrorStatus.OUTPUT_INSUFFICIENT_SIZE
    with checks.about("NNHAL-FENCED-017" if insufficient else "NNHAL-ERROR-006"):
        checks.status(status, documented_statuses(letters, context.version), what)


def _timings(context: Surroundings, outcome: Outcome, measured: bool) -> None:
    """Both timings have the form of every timing; both end together, so the one from the last signal is no longer."""
    for timing in (outcome.launched, outcome.fenced):
        timing_rules(context, Execution(outcome.status, (), timing), measured=measured)
    if outcome.launched is None or outcome.fenced is None:
        return
    unavailable = context.version.unavailable_time
    for name in ("time_on_device", "time_in_driver"):
        launched, fenced = getattr(outcome.launched, name), getattr(outcome.fenced, name)
        if unavailable not in (launched, fenced):
            what = f"{name}: expected that of timingFenced, {fenced}, not to exceed that of timingLaunched, {launched}"
            with checks.about("NNHAL-FENCED-018"):
                checks.that(fenced <= launched, what)
