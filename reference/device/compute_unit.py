"""The compute unit that all executions of a device share: whose turn it is, and who steps aside for whom.

Among the executions of one app priority decides, then arrival (NNHAL-QOS-009). `Apps` decides which app goes first:
they take turns, or follow the npu scheduling HAL (reference/hal/device_work.py). An execution calls its
checkpoint between operations: there it lets a stronger app go first, or a more urgent execution of its own.
"""

from __future__ import annotations

import bisect
import enum
import itertools
import threading
import weakref
from collections.abc import Callable
from typing import Protocol, TypeVar

import msgspec

from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.plugin import Clock

Result = TypeVar("Result")
Checkpoint = Callable[[], None]

CAPACITY = 128
"""How many executions of one app may wait: apps do not fill each other's queue."""
SUBMODEL = 8
"""Operations of a submodel, under Preemption.SUBMODELS."""
NOT_BEGUN = -1
"""No time of a clock: a virtual one begins at 0."""
TURN_NS = 10_000_000
"""How long an execution may run while another app waits."""


class Preemption(enum.Enum):
    """What a running execution does when another one is to go first.

    RESUME: waits at its checkpoint and goes on from there. SUBMODELS: the same, but looks up only between submodels.
    RESTART: forgets what it has computed and begins again. NONE: runs to its end.
    """

    RESUME = "resume"
    SUBMODELS = "submodels"
    RESTART = "restart"
    NONE = "none"


def strategy(name: str) -> Preemption:
    """The strategy of a name; raises ValueError naming the legal ones."""
    try:
        return Preemption(name)
    except ValueError:
        legal = ", ".join(one.value for one in Preemption)
        raise ValueError(f"option preemption: expected one of {legal}, found {name!r}") from None


class QueueFullError(Exception):
    """Too many executions of the app are waiting already."""


class _StartAgainError(Exception):
    """Unwinds an execution that is to begin again later."""


class Job(msgspec.Struct, eq=False):
    """One execution on its way through the unit; made by `ComputeUnit.job`.

    app: uid of the app that owns the prepared model. arrival: number of its launch. deadline_ns: or None.
    began_ns: when it first had the unit, NOT_BEGUN before. waited_ns: how long it has waited for others, before it
    began and since. operations: how many it has executed in this attempt. turn: notified when it has the unit.
    """

    app: int
    priority: int
    arrival: int
    deadline_ns: int | None
    began_ns: int = NOT_BEGUN
    waited_ns: int = 0
    operations: int = 0
    turn: threading.Condition | None = None


class Apps(Protocol):
    """Decides which app has the unit. Called under `lock`, under which it calls the unit's `start` in turn.

    unit: set by the unit itself, as a proxy, so that it lives no longer than its users.
    """

    lock: threading.RLock
    unit: ComputeUnit

    def ask(self, app: int) -> None:
        """Note that one more execution of the app wants the unit. Raises ServiceError where the app may have none."""
        ...

    def withdraw(self, app: int) -> None:
        """Note that one execution of the app, which had asked, no longer wants the unit."""
        ...

    def end(self, app: int, succeeded: bool) -> None:
        """Note that the execution of the app which has the unit is over."""
        ...

    def is_to_yield(self, app: int) -> bool:
        """Whether the app, which has the unit, is to let another one go first."""
        ...

    def step_aside(self, app: int) -> None:
        """Let the other one go first, and ask again."""
        ...


class Turns:
    """Apps take turns: the one that has not had the unit for the longest time is next.

    clock: None where a turn ends only with its execution, however long others wait.
    """

    unit: ComputeUnit

    def __init__(self, clock: Clock | None) -> None:
        self.lock = threading.RLock()
        self._clock = clock
        self._running: int | None = None
        self._since_ns = 0
        self._asking: dict[int, int] = {}
        self._turns = itertools.count(1)
        self._latest_turn: dict[int, int] = {}
        """The number of the last turn that each app had."""

    def ask(self, app: int) -> None:
        """See Apps."""
        if self._running is None:
            self._give(app)
        else:
            self._asking[app] = self._asking.get(app, 0) + 1

    def withdraw(self, app: int) -> None:
        """See Apps."""
        self._asking[app] -= 1
        if not self._asking[app]:
            del self._asking[app]

    def end(self, app: int, succeeded: bool) -> None:
        """See Apps."""
        self._next()

    def is_to_yield(self, app: int) -> bool:
        """True after a while, where other apps wait."""
        if not self._asking or self._clock is None or self._asking.keys() == {app}:
            return False
        return self._clock.now_ns() - self._since_ns >= TURN_NS

    def step_aside(self, app: int) -> None:
        """See Apps."""
        self._asking[app] = self._asking.get(app, 0) + 1
        self._next()

    def _next(self) -> None:
        self._running = None
        if self._asking:
            app = min(self._asking, key=lambda one: self._latest_turn.get(one, 0))
            self.withdraw(app)
            self._give(app)

    def _give(self, app: int) -> None:
        self._running = app
        self._latest_turn[app] = next(self._turns)
        if self._clock is not None:
            self._since_ns = self._clock.now_ns()
        self.unit.start(app)


class ComputeUnit:
    """Runs one execution at a time. Any thread may call it, and waits in the call.

    capacity: how many executions of one app may wait. apps: None for turns.
    """

    def __init__(
        self,
        clock: Clock,
        preemption: Preemption = Preemption.RESUME,
        capacity: int = CAPACITY,
        apps: Apps | None = None,
    ) -> None:
        self._clock, self._preemption, self._capacity = clock, preemption, capacity
        # Two long executions that always begin again would never let each other end.
        self._apps = apps or Turns(None if preemption is Preemption.RESTART else clock)
        self._apps.unit = weakref.proxy(self)
        self._running: Job | None = None
        self._waiting: dict[int, list[Job]] = {}
        """The waiting jobs by app; the next one of each app is first."""
        self._arrivals = itertools.count()

    def job(self, app: int, priority: int, deadline_ns: int | None = None) -> Job:
        """An execution that has just been launched; it does not wait yet."""
        return Job(app, priority, next(self._arrivals), deadline_ns)

    def execute(self, job: Job, work: Callable[[Checkpoint], Result]) -> Result:
        """Do the work when the job's turn comes, and return what it returns.

        work: gets the checkpoint that it calls before each operation; may be called again from the start. Raises
        QueueFullError, ServiceError(MISSED_DEADLINE_*) and what `Apps.ask` and the work raise.
        """
        succeeded = False
        self._enter(job)
        try:
            self._wait(job)
            result = self._attempt(job, work)
            succeeded = True
            return result
        finally:
            self._leave(job, succeeded)

    def _attempt(self, job: Job, work: Callable[[Checkpoint], Result]) -> Result:
        while True:
            try:
                return work(lambda: self._checkpoint(job))
            except _StartAgainError:
                job.operations = 0
                self._wait(job)

    def _enter(self, job: Job) -> None:
        with self._apps.lock:
            waiting = self._waiting.setdefault(job.app, [])
            if len(waiting) >= self._capacity:
                raise QueueFullError(f"{self._capacity} executions of the app are waiting")
            self._queue(job)
            try:
                self._apps.ask(job.app)
            except ServiceError:
                waiting.remove(job)
                raise

    def _leave(self, job: Job, succeeded: bool) -> None:
        """Free the unit for the next job, or a place in the queue where the deadline passed before the job's turn."""
        with self._apps.lock:
            if self._running is job:
                self._running = None
                self._apps.end(job.app, succeeded)
            else:
                self._waiting[job.app].remove(job)
                self._apps.withdraw(job.app)

    def _checkpoint(self, job: Job) -> None:
        """Check between two operations that there is time left, and let another execution go first where it is to."""
        self._check_deadline(job)
        job.operations += 1
        if self._preemption is Preemption.NONE:
            return
        if self._preemption is Preemption.SUBMODELS and job.operations % SUBMODEL:
            return
        if self._steps_aside(job):
            if self._preemption is Preemption.RESTART:
                raise _StartAgainError
            self._wait(job)

    def _steps_aside(self, job: Job) -> bool:
        """Let a stronger app have the unit, or a more urgent execution of this one."""
        with self._apps.lock:
            waiting = self._waiting[job.app]
            if self._apps.is_to_yield(job.app):
                self._running = None
                self._queue(job)
                self._apps.step_aside(job.app)
            elif waiting and waiting[0].priority > job.priority:
                self._queue(job)
                self.start(job.app)
        return self._running is not job

    def _queue(self, job: Job) -> None:
        bisect.insort(self._waiting[job.app], job, key=lambda one: (-one.priority, one.arrival))

    def start(self, app: int) -> None:
        """Give the unit to the most urgent job of an app that has asked; only for Apps."""
        job = self._running = self._waiting[app].pop(0)
        if job.began_ns == NOT_BEGUN:
            job.began_ns = self._clock.now_ns()
        if job.turn is not None:
            job.turn.notify()

    def _wait(self, job: Job) -> None:
        """Wait until the job has the unit."""
        if self._running is job:
            return
        with self._apps.lock:
            since, before = self._clock.now_ns(), job.waited_ns
            while self._running is not job:
                job.turn = job.turn or threading.Condition(self._apps.lock)
                job.turn.wait(self._patience(job))
                job.waited_ns = before + self._clock.now_ns() - since
                if self._running is not job:
                    self._check_deadline(job)

    def _patience(self, job: Job) -> float | None:
        """Return the seconds until the job's deadline."""
        if job.deadline_ns is None:
            return None
        return min(max(0.0, (job.deadline_ns - self._clock.now_ns()) / 1e9), threading.TIMEOUT_MAX)

    def _check_deadline(self, job: Job) -> None:
        """Raise MISSED_DEADLINE_*: TRANSIENT where the job had been in time without waiting (NNHAL-QOS-016, -017)."""
        if job.deadline_ns is None:
            return
        now = self._clock.now_ns()
        if now >= job.deadline_ns:
            alone = now - job.waited_ns < job.deadline_ns
            status = ErrorStatus.MISSED_DEADLINE_TRANSIENT if alone else ErrorStatus.MISSED_DEADLINE_PERSISTENT
            raise ServiceError(status, f"the deadline has passed, {job.waited_ns} ns of waiting included")
