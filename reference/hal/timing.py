"""Deadlines, loop timeouts and durations in the form of the device's version."""

from __future__ import annotations

from collections.abc import Callable

from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import (
    DEFAULT_LOOP_TIMEOUT_DURATION_NS,
    MAXIMUM_LOOP_TIMEOUT_DURATION_NS,
    ErrorStatus,
)
from npu_conformance.specs.neuralnetworks.types import Timing
from npu_conformance.specs.plugin import Clock
from npu_conformance.specs.versions import Version


def check_deadline_form(version: Version, deadline_ns: int) -> None:
    """Raise INVALID_ARGUMENT for a negative AIDL time other than -1."""
    if version.is_aidl and deadline_ns < version.unavailable_time:
        raise ServiceError(ErrorStatus.INVALID_ARGUMENT, f"deadline {deadline_ns} ns is negative")


def check_loop_timeout_form(version: Version, duration_ns: int) -> None:
    """Raise INVALID_ARGUMENT for a loop timeout that AIDL does not allow; HIDL allows every one."""
    if version.is_aidl and not version.unavailable_time <= duration_ns <= MAXIMUM_LOOP_TIMEOUT_DURATION_NS:
        raise ServiceError(ErrorStatus.INVALID_ARGUMENT, f"loop timeout {duration_ns} ns is out of range")


def deadline(version: Version, deadline_ns: int) -> int | None:
    """The deadline on the device's clock, None for no deadline.

    Versions before 1.3 have no deadlines; UINT64_MAX (HIDL) and -1 stand for no deadline.
    """
    has_none = version < Version.V1_3 or deadline_ns < 0 or deadline_ns == version.unavailable_time
    return None if has_none else deadline_ns


def check_deadline(version: Version, deadline_ns: int, clock: Clock) -> None:
    """Raise MISSED_DEADLINE_PERSISTENT once the deadline has passed: the same one would be missed again."""
    end = deadline(version, deadline_ns)
    if end is not None and end <= clock.now_ns():
        raise ServiceError(ErrorStatus.MISSED_DEADLINE_PERSISTENT, "the deadline has passed")


def loop_limit(version: Version, duration_ns: int, now_ns: Callable[[], int]) -> Callable[[], None]:
    """Start the time of a loop; the returned check raises MISSED_DEADLINE_TRANSIENT once it is over (CONTROLFLOW-011).

    duration_ns: negative, or UINT64_MAX in HIDL, for the default of two seconds (CONTROLFLOW-012). now_ns: returns
    the time that counts.
    """
    if duration_ns < 0 or duration_ns == version.unavailable_time:
        duration_ns = DEFAULT_LOOP_TIMEOUT_DURATION_NS
    end = now_ns() + duration_ns

    def check() -> None:
        if now_ns() >= end:
            raise ServiceError(ErrorStatus.MISSED_DEADLINE_TRANSIENT, f"a loop took more than {duration_ns} ns")

    return check


def unavailable_timing(version: Version) -> Timing:
    """A timing in which neither time was measured."""
    return Timing(version.unavailable_time, version.unavailable_time)


def measured_timing(version: Version, device_ns: int, driver_ns: int) -> Timing:
    """A timing with both times in the unit of the version: microseconds in HIDL, nanoseconds in AIDL."""
    unit = 1 if version.is_aidl else 1000
    return Timing(device_ns // unit, driver_ns // unit)


def driver_time(version: Version, timing: Timing, driver_ns: int) -> Timing:
    """A measured timing with another time in the driver; one that is not available stays so."""
    if timing == unavailable_timing(version):
        return timing
    return Timing(timing.time_on_device, measured_timing(version, 0, driver_ns).time_in_driver)


def earlier_deadline(version: Version, deadline_ns: int, duration_ns: int, clock: Clock) -> int:
    """The deadline, or the end of a duration that begins now where that is earlier (NNHAL-FENCED-015)."""
    if duration_ns < 0 or duration_ns == version.unavailable_time:
        return deadline_ns
    end = clock.now_ns() + duration_ns
    return end if deadline_ns < 0 else min(deadline_ns, end)
