"""Deadlines by name, on the clock that they are reckoned by, and the answers that each allows."""

from __future__ import annotations

import time

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution, timing_rules
from npu_conformance.harness.run.preparation import Preparation, needs_room
from npu_conformance.specs.neuralnetworks.enums import EXHAUSTED, MISSED, ErrorStatus, Priority
from npu_conformance.specs.neuralnetworks.types import NO_DEADLINE, Model
from npu_conformance.specs.versions import Version

MILLISECOND = 1_000_000
_HOUR = 3603 * 1000 * MILLISECOND
"""And three seconds, so that the lower 32 bits of its nanoseconds are negative: who keeps only them has missed it."""
_LONG_PAST = {"zero": 0, "past": 1}
_AHEAD = {"now": 0, "short": 5 * MILLISECOND, "soon": 20 * MILLISECOND, "late": 2000 * MILLISECOND, "hour": _HOUR}

LIMITED = ("zero", "now", "short", "soon", "past")
"""Deadlines that may be missed: 0 ns of the clock, the moment of the call, 5 ms and 20 ms later, 1 ns of the clock. The
last one has always passed when an execution without a deadline follows, for which it must not count any more."""
UNLIMITED = ("none", "maximum", "hour")
"""Deadlines that are not: none, the last time point there is, and an hour from now."""

LATE = frozenset({ErrorStatus.NONE, *MISSED, *EXHAUSTED})
"""What a limited deadline may come to (NNHAL-QOS-003)."""
PERSISTENT = frozenset({ErrorStatus.MISSED_DEADLINE_PERSISTENT, ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT})
TRANSIENT = frozenset({ErrorStatus.MISSED_DEADLINE_TRANSIENT, ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT})


def deadline(name: str, version: Version) -> int:
    """A deadline in nanoseconds of CLOCK_BOOTTIME; HIDL's steady clock is never ahead of it."""
    if name == "none":
        return NO_DEADLINE
    if name == "maximum":
        return 2**63 - 1 if version.is_aidl else 2**64 - 1
    if name in _LONG_PAST:
        return _LONG_PAST[name]
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) + _AHEAD[name]


def wait_until_over(context: CaseContext, time_point: int) -> None:
    """Wait until a deadline has passed, and a moment longer."""
    left = time_point + MILLISECOND - time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    context.subject.wait_until(lambda: False, max(left, 0) / 1e9)


def allowed(name: str) -> frozenset[ErrorStatus]:
    """The statuses that a call with this deadline may end with, where it would succeed without one."""
    return LATE if name in LIMITED else frozenset({ErrorStatus.NONE})


def seconds_in_driver(version: Version, execution: Execution) -> float | None:
    """The time in the driver that an execution reported; None where it is not known."""
    times = execution.timing
    if times is None or times.time_in_driver == version.unavailable_time:
        return None
    return times.time_in_driver * (1e-9 if version.is_aidl else 1e-6)


def prepare_limited(context: CaseContext, model: Model, name: str, priority: int = Priority.MEDIUM) -> Preparation:
    """Prepare a supported model with this deadline, and see that it ends as the rules allow.

    NoRoom where none is needed so long, and there is no room for the model without one either.
    """
    preparation = context.prepare(model, priority=priority, deadline=deadline(name, context.version))
    if name not in LIMITED and preparation.status in EXHAUSTED:
        needs_room(context.prepare(model, priority=priority))
    _check_preparation(preparation, name, context.version)
    return preparation


def _check_preparation(preparation: Preparation, name: str, version: Version) -> None:
    """See that a preparation with this deadline was launched, and that its callback got what the rules allow."""
    what = f"prepareModel with the deadline '{name}'"
    launched = preparation.launch_status
    with checks.about("NNHAL-QOS-004" if launched in MISSED else "NNHAL-PREPARE-004"):
        _check_launch(launched, name, f"{what}, returned")
    with checks.about(_rule(name, preparation.status, version)):
        checks.status(preparation.status, allowed(name), f"{what}, notified")
    has_model = preparation.prepared_model is not None
    with checks.about("NNHAL-PREPARE-007"):
        checks.equal(has_model, preparation.status == ErrorStatus.NONE, "a prepared model comes with status NONE only")


def check_execution(context: CaseContext, execution: Execution, name: str) -> None:
    """See that an execution with this deadline, measured, ended as the rules allow."""
    with checks.about(_rule(name, execution.status, context.version)):
        _check_launch(execution.launch_status, name, f"execute with the deadline '{name}', returned")
        checks.status(execution.status, allowed(name), f"execution with the deadline '{name}'")
    timing_rules(context, execution, measured=True)
    if execution.status != ErrorStatus.NONE:
        with checks.about("NNHAL-REQUEST-017"):
            checks.equal(execution.output_shapes, (), "output shapes of an execution that was aborted")


def _rule(name: str, status: int | None, version: Version) -> str:
    """The requirement that a call with this deadline breaks which ends so."""
    if name == "hour" and status in MISSED:  # that hour has passed by another unit, or on another clock
        return "NNHAL-QOS-007" if version.is_aidl else "NNHAL-QOS-006"
    return "NNHAL-QOS-003" if name in LIMITED else "NNHAL-QOS-002"


def _check_launch(status: int, name: str, what: str) -> None:
    """See that a launch succeeded: what the deadline comes to is for the callback (NNHAL-QOS-004, as VTS asks)."""
    checks.status(status, {ErrorStatus.NONE, *EXHAUSTED} if name in LIMITED else {ErrorStatus.NONE}, what)
