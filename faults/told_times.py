"""Drivers that report times which do not fit: to each other, to the call they are of, or to the work that was done."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.factories import fault
from npu_conformance.faults.fault import FaultySubject
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

Times = tuple[int, int]
"""Nanoseconds on the device and in the driver."""


class Teller:
    """What a device tells of its executions, of whichever model.

    before: the true times of the last one; least: of the shortest one; total: of all in the driver.
    """

    def __init__(self, told: Callable[[Teller, Times], Times]) -> None:
        self._told = told
        self.before: Times | None = None
        self.least: Times | None = None
        self.total = 0

    def tell(self, measured: Times) -> Times:
        """What becomes of the true times."""
        self.total += measured[1]
        self.least = min(self.least or measured, measured, key=lambda times: times[1])
        told = self._told(self, measured)
        self.before = measured
        return told


def telling(told: Callable[[Teller, Times], Times], *, measured_times: bool = False) -> FaultySubject:
    """The reference, which tells other times. measured_times: it promises that they are measured."""

    def create(context: Context, version: Version) -> Subject:
        teller, unit = Teller(told), 1 if version.is_aidl else 1000

        class Model(FaultyPreparedModel):
            def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
                began = time.perf_counter_ns()
                result = self.inner.execute_synchronously(request, *rest)
                if result.timing.time_in_driver == version.unavailable_time:
                    return result
                took = time.perf_counter_ns() - began
                on_device, in_driver = teller.tell((took * 9 // 10, took))
                return replace(result, timing=types.Timing(on_device // unit, in_driver // unit))

        class Device(FaultyDevice):
            prepared_model = Model

        return Subject(device=Device(ReferenceDevice(context, version)))

    return FaultySubject(create, manifest=lambda: {"measured_times": measured_times})


def _all(change: Callable[[int], int]) -> Callable[[Teller, Times], Times]:
    """Both times changed alike."""
    return lambda teller, times: (change(times[0]), change(times[1]))


def _of_before(teller: Teller, times: Times) -> Times:
    return teller.before or times


def _of_all(teller: Teller, times: Times) -> Times:
    return teller.total * 9 // 10, teller.total


def _since_boot(teller: Teller, times: Times) -> Times:
    now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return now - 1000, now


def of_the_least(teller: Teller, times: Times) -> Times:
    """The shortest time so far, whatever was executed."""
    return teller.least or times


_SINGLE, _TURNS = "mlts.latency.digits_conv.inference", "mlts.told_times.models.in_turn"
_MILLISECOND = 1_000_000
_NANOSECONDS = "NNHAL-TIMING-006"
_fault = functools.partial(fault, family="told", detected_as="quality-warning")

FAULTS = (
    _fault("negative", "Durations are less than nothing.", _NANOSECONDS, f"{_SINGLE} mlts.accuracy.digits_conv.answers",
           telling(_all(lambda told: -5 - told)), detected_as="red"),
    _fault("device-beyond-driver", "The time on the device is longer than the time in the driver.",
           "NNHAL-TIMING-004", f"{_SINGLE} mlts.latency.digits_conv.sustained",
           telling(lambda _, times: (times[1] + 1000, times[1])), detected_as="red"),
    _fault("swapped", "The two times are in each other's place.", "NNHAL-TIMING-004", _SINGLE,
           telling(lambda _, times: (times[1], times[0])), Version.V1_3, detected_as="red"),
    _fault("zero", "Every duration is zero, where it is not known.", _NANOSECONDS, _SINGLE,
           telling(_all(lambda _: 0))),
    _fault("zero-in-driver", "Only the time on the device is measured; both are told as zero in microseconds.",
           "NNHAL-TIMING-005", _TURNS, telling(_all(lambda _: 0)), Version.V1_3),
    _fault("constant", "Every duration is a tenth of a millisecond.", _NANOSECONDS, _TURNS,
           telling(_all(lambda _: _MILLISECOND // 10))),
    _fault("of-the-execution-before", "Durations are those of the execution before.", _NANOSECONDS, _TURNS,
           telling(_of_before)),
    _fault("tenth", "Durations are a tenth of what they are.", _NANOSECONDS, _TURNS,
           telling(_all(lambda told: told // 10))),
    _fault("of-the-least", "Durations are the shortest one so far.", _NANOSECONDS, _TURNS, telling(of_the_least)),
    _fault("in-milliseconds", "Durations are milliseconds.", _NANOSECONDS, _TURNS,
           telling(_all(lambda told: 1 + told // _MILLISECOND))),
    _fault("tenfold", "Durations are ten times what they are.", _NANOSECONDS, f"{_SINGLE} {_TURNS}",
           telling(_all(lambda told: 10 * told))),
    _fault("with-a-wait", "Durations have five milliseconds more that nobody has waited for.", _NANOSECONDS, _SINGLE,
           telling(_all(lambda told: told + 5 * _MILLISECOND))),
    _fault("of-all", "Durations are those of all executions so far.", _NANOSECONDS, _SINGLE, telling(_of_all)),
    _fault("since-boot", "A moment is told as a duration.", _NANOSECONDS, _SINGLE, telling(_since_boot)),
    _fault("tenfold-against-the-promise", "The same, although the manifest promises that times are measured.",
           _NANOSECONDS, f"{_SINGLE} {_TURNS}", telling(_all(lambda told: 10 * told), measured_times=True),
           detected_as="red"),
    _fault("constant-against-the-promise", "Every duration is the same, although the manifest promises measured ones.",
           _NANOSECONDS, _TURNS, telling(_all(lambda _: _MILLISECOND // 10), measured_times=True), detected_as="red"),
)  # fmt: skip
"""Faults of what a driver tells of durations."""
