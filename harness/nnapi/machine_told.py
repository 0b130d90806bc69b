"""What the one driver of a machine was told: what the app has said last, without what was refused or taken back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from npu_conformance.harness.judge import checks
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference, Priority
from npu_conformance.specs.neuralnetworks.runtime.control import DriverCall
from npu_conformance.specs.neuralnetworks.runtime.result_codes import (
    MAXIMUM_LOOP_TIMEOUT_NS,
    UNAVAILABLE_DURATION,
    RuntimePriority,
)
from npu_conformance.specs.neuralnetworks.types import Timing
from npu_conformance.specs.versions import Version

Said = Mapping[str, int]
"""What was accepted of an app, by the setter without its object: {"timeout": 0}."""
_PRIORITIES = {
    RuntimePriority.LOW: Priority.LOW,
    RuntimePriority.MEDIUM: Priority.MEDIUM,
    RuntimePriority.HIGH: Priority.HIGH,
}
_PACKET = "burst.execute_packet"
TIMES = Timing(7, 9)
"""What the driver tells of each execution that it has to measure, in the unit of its version."""


class Told(NamedTuple):
    """What a driver was told of one execution; None where a packet of HIDL's burst has no room for it."""

    measure_timing: bool
    has_deadline: bool | None
    loop_timeout_ns: int | None


@dataclass
class Watched:
    """The driver. calls: what it was asked since it was asked this last, in order.

    due: what it is to be told of the executions since executions were judged last.
    """

    version: Version
    calls: Callable[[], tuple[DriverCall, ...]]
    due: list[Told] = field(default_factory=list)
    executions: list[DriverCall] = field(default_factory=list)

    @property
    def durations(self) -> tuple[int, int]:
        """What the app is to read: on the hardware, in the driver."""
        if self.version < Version.V1_2:
            return UNAVAILABLE_DURATION, UNAVAILABLE_DURATION
        unit = 1 if self.version.is_aidl else 1000
        return unit * TIMES.time_on_device, unit * TIMES.time_in_driver

    def judge_preparation(self, said: Said) -> None:
        """Raise unless the newest preparation is as the app wants it; a driver's version may not know all of it."""
        calls = [call for call in self._take() if call.method.startswith("prepare_model")]
        with checks.about("FW-CMP-003", "FW-CMP-004", "FW-CMP-006", "FW-QOS-001"):
            checks.that(bool(calls), "expected a preparation by the driver, found none")
            call, times = calls[-1], self.version >= Version.V1_3
            if self.version >= Version.V1_1:
                preference = said.get("preference", ExecutionPreference.FAST_SINGLE_ANSWER)
                checks.equal(call.preference, preference, "preference that the driver was told")
            if times:
                priority = _PRIORITIES[RuntimePriority(said.get("priority", RuntimePriority.MEDIUM))]
                checks.equal(call.priority, priority, "priority that the driver was told")
            has_deadline = call.deadline_ns != self.version.unavailable_time
            checks.equal(has_deadline, times and bool(said.get("timeout")), "whether the driver was told a deadline")

    def expect_execution(self, said: Said) -> None:
        """Note what the driver is to be told of an execution that has begun."""
        times = self.version >= Version.V1_3
        loop_timeout = min(said.get("loop_timeout", 0), MAXIMUM_LOOP_TIMEOUT_NS) if times else 0
        measures = self.version >= Version.V1_2 and bool(said.get("measure_timing"))
        deadline = times and bool(said.get("timeout"))
        self.due.append(Told(measures, deadline, loop_timeout or self.version.unavailable_time))

    def judge_executions(self) -> None:
        """Raise unless executions are as the app wants them, in any order. Not while one is under way."""
        self._take()
        found, due = [_told(call, self.version) for call in self.executions], self.due
        self.executions, self.due = [], []
        with checks.about("FW-EXE-010", "FW-EXE-019", "FW-QOS-001"):
            checks.equal(len(found), len(due), "executions that the driver was asked for")
            for one in found:
                same = next((other for other in due if _agree(one, other)), None)
                checks.that(same is not None, f"the driver was told {one}: expected one of {due}")
                due = [other for other in due if other is not same]

    def judge_names(self, known: dict[int, int]) -> None:
        """Raise where a burst's newest execution names memory as other memory was. known: pools by their names.

        -1 is no name.
        """
        self._take()
        call = self.executions[-1] if self.executions else None
        if call is None or call.request is None or not call.memory_tokens:
            return
        for name, pool in zip(call.memory_tokens, call.request.pools, strict=True):
            if name >= 0 and pool.pool is not None:
                with checks.about("NNHAL-BURST-017"):
                    checks.equal(known.setdefault(name, pool.pool.token), pool.pool.token, f"memory of name {name}")

    def _take(self) -> tuple[DriverCall, ...]:
        calls = self.calls()
        self.executions += [call for call in calls if "execute" in call.method]
        return calls


def _told(call: DriverCall, version: Version) -> Told:
    if call.method == _PACKET:
        return Told(call.measure_timing, None, None)
    has_deadline = call.deadline_ns != version.unavailable_time
    return Told(call.measure_timing, has_deadline, call.loop_timeout_ns)


def _agree(found: Told, due: Told) -> bool:
    """A packet says no times. It may stand for an execution with a deadline, which a driver may ignore."""
    return all(one is None or one == other for one, other in zip(found, due, strict=True))
