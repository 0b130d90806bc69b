"""A scheduling HAL that the suite puts below the manager: it keeps what is pushed, and reports work."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from npu_conformance.cts.lib.manager_client import barrier
from npu_conformance.cts.lib.manager_fixture import ManagerFixture
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.specs.errors import DeadObject, SecurityDenied, Unsupported
from npu_conformance.specs.npu.scheduling import Scheduling, SchedulingCallback
from npu_conformance.specs.npu.types import (
    DEBOUNCE_DURATION_MS,
    MAX_PRIORITY,
    MIN_PRIORITY,
    EndReason,
    SchedulingConfig,
    StartReason,
    WorkInfo,
)

OWN = -1
"""Original uid of work that cuttlefish's HAL reports as an app's own."""


_CLOCK_MS = itertools.count(2**32)
"""Of a device that has been up for fifty days: one clock for all HALs that come and go (NPU-HAL-021)."""


class RecordingHal(Scheduling):
    """What was pushed, in order and as the table that it makes; and the manager's callback."""

    def __init__(self, fixture: ManagerFixture) -> None:
        self._fixture = fixture
        self.pushes: list[tuple[str, tuple[SchedulingConfig, ...]]] = []
        self.table: dict[int, SchedulingConfig] = {}
        self.callback: SchedulingCallback | None = None
        self.received_at_push: list[int] = []
        """How many callbacks all apps together had got when each push came."""
        self.dead = False
        """True where its process has ended: every push is lost."""
        self.wrong: list[str] = []
        """Pushes that no HAL would take (NPU-HAL-004, -005)."""
        self.reported: list[WorkInfo] = []
        """What the manager was told of work, in order."""
        self._ids = itertools.count(1)

    def set_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        """Replace the table."""
        self._keep("set", configs)
        self.table = {config.uid: config for config in configs}

    def update_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        """Change the table."""
        self._keep("update", configs)
        self.table.update({config.uid: config for config in configs})

    def set_callback(
        self, callback: SchedulingCallback | None, debounce_duration_ms: int = DEBOUNCE_DURATION_MS
    ) -> None:
        """Keep the callback."""
        self.callback = callback

    def priority(self, uid: int) -> int | None:
        """What the table says of a uid; None where it says nothing."""
        config = self.table.get(uid)
        return None if config is None else config.priority

    def counted(self, uid: int) -> int:
        """What a uid counts here, which without a config is MAX_PRIORITY (NPU-HAL-007)."""
        config = self.table.get(uid)
        return MAX_PRIORITY if config is None else config.priority

    def requested(self, uid: int, original: int | None = None) -> None:
        """Report that work was queued."""
        self._manager.on_work_requested(self._work(uid, original))
        self._settle()

    def works(
        self,
        uid: int,
        reason: int = EndReason.COMPLETED,
        original: int | None = None,
        start: int = StartReason.INITIAL,
        *,
        arrives: bool = True,
    ) -> None:
        """Report work from its request to its end. original: for whom; by default for the uid itself.

        arrives: wait until what that brings about has arrived.
        """
        self._begin(uid, original, start)
        self._manager.on_work_ended(self._work(uid, original), reason)
        self._settle(arrives=arrives)

    def begins(self, uid: int) -> None:
        """Report that work was queued and has begun."""
        self._begin(uid, None, StartReason.INITIAL)
        self._settle()

    def ends(self, uid: int, *, arrives: bool = True) -> None:
        """Report that work which has begun is completed. arrives: as in `works`."""
        self._manager.on_work_ended(self._work(uid, None), EndReason.COMPLETED)
        self._settle(arrives=arrives)

    def _begin(self, uid: int, original: int | None, start: int) -> None:
        manager = self._manager
        manager.on_work_requested(self._work(uid, original))
        manager.on_work_started(self._work(uid, original), start)

    def _settle(self, *, arrives: bool = True) -> None:
        """Reports are not answered: a call behind them is, before any app's next call can overtake them."""
        manager = self._fixture.context.subject.interfaces.manager
        with suppress(SecurityDenied):
            barrier(self._fixture.context.present(manager, "manager"))
        if arrives:
            self._fixture.settle()

    @property
    def _manager(self) -> SchedulingCallback:
        self._fixture.wait(lambda: self.callback is not None)
        if self.callback is None:
            checks.fail("the manager's callback at the HAL", "registered", "none")
        return self.callback

    def expect(self, uid: int, priority: int) -> None:
        """Check the priority that a uid has by the table, once it is so."""
        self._fixture.wait(lambda: self.counted(uid) == priority)
        checks.equal(self.counted(uid), priority, f"priority of uid {uid} at the HAL")
        checks.equal(self.wrong, [], "pushes that a HAL has to reject")

    def _keep(self, call: str, configs: tuple[SchedulingConfig, ...]) -> None:
        if self.dead:
            raise DeadObject("the HAL has died")
        while self._fixture.context.subject.serve_pending():  # what was sent before this push counts as before
            pass
        uids = [config.uid for config in configs]
        if len(set(uids)) < len(uids):
            self.wrong.append(f"{call} names a uid twice: {uids}")
        self.wrong += [str(each) for each in configs if not MIN_PRIORITY <= each.priority <= MAX_PRIORITY]
        self.pushes.append((call, configs))
        self.received_at_push.append(sum(len(client.recorder.events) for client in self._fixture.clients))

    def _work(self, uid: int, original: int | None) -> WorkInfo:
        identifier = next(self._ids)
        job, device, pid = identifier % 1001, identifier % 3, 4000 + identifier
        original = uid if original is None else original
        work = WorkInfo(identifier, uid, original, job, 1000 + job, next(_CLOCK_MS), device, pid)
        self.reported.append(work)
        return work


@contextmanager
def recording_hal(fixture: ManagerFixture) -> Iterator[RecordingHal]:
    """Put such a HAL below the manager; the device's own comes back behind it. NotApplicable where that cannot be."""
    hal = RecordingHal(fixture)
    try:
        fixture.control.connect_hal(hal)
    except Unsupported as error:
        raise NotApplicable(f"no HAL can be put below the manager: {error}") from None
    try:
        fixture.wait(lambda: hal.callback is not None and bool(hal.table))  # which may be emptied first
        yield hal
    finally:
        fixture.control.connect_hal(None)


@contextmanager
def next_hal(fixture: ManagerFixture) -> Iterator[RecordingHal]:
    """Another HAL below a manager that has had one of the suite's: it has to be able to find it."""
    try:
        with recording_hal(fixture) as hal:
            yield hal
    except NotApplicable as error:
        checks.fail("a new HAL after an earlier one", "found by the manager", str(error))
