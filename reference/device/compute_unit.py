"""The compute unit that all executions of a device share: whose turn it is, and who steps aside for whom.

Apps take turns; among the executions of one app priority decides, then arrival (NNHAL-QOS-009). An execution calls its
checkpoint between operations: there it lets a more urgent one of its app go first, and after a while another app.
"""

from __future__ import annotations

import enum
import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.plugin import Clock

Result = TypeVar("Result")
Checkpoint = Callable[[], None]

CAPACITY = 128
"""How many executions of one app may wait: apps do not fill each other's queue."""
SUBMODEL = 8
"""Operations of a submodel, under Preemption.SUBMODELS."""
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


@dataclass(eq=False, slots=True)
class Job:
    """One execution on its way through the unit; made by `ComputeUnit.job`.

    app: uid of the app that owns the prepared model. arrival: number of its launch. deadline_ns: null for none.
    began_ns: when it first had the unit. turn_ns: when its latest turn began. waited_ns: how long it has waited for
    others, before it began and since. operations: how many it has executed in this attempt.
    """

    app: int
    priority: int
    arrival: int
    deadline_ns: int | None
    began_ns: int = 0
    turn_ns: int = 0
    waited_ns: int = 0
    operations: int = 0
    turn: threading.Condition | None = None


class Watcher(Protocol):
    """Hears of executions: launched once, then started and stepped aside in turn, ended once. It must not wait."""

    def launched(self, job: Job) -> None:
        """The job wants the unit."""
        ...

    def started(self, job: Job) -> None:
        """The job has the unit, for the first time or again."""
        ...

    def stepped_aside(self, job: Job) -> None:
        """The job lets another one go first."""
        ...

    def ended(self, job: Job, succeeded: bool) -> None:
        """The job is over."""
        ...


class ComputeUnit:
    """Runs one execution at a time. Any thread may call it, and waits in the call.

    capacity: how many executions of one app may wait. watcher: null for nobody.
    """

    def __init__(
        self,
        clock: Clock,
        preemption: Preemption = Preemption.RESUME,
        capacity: int = CAPACITY,
        watcher: Watcher | None = None,
    ) -> None:
        self._watcher = watcher
        self._clock, self._preemption, self._capacity = clock, preemption, capacity
        self._lock = threading.Lock()
        self._running: Job | None = None
        self._waiting: list[Job] = []
        self._arrivals, self._turns = itertools.count(), itertools.count(1)
        self._latest_turn: dict[int, int] = {}
        """The number of the last turn that each app had."""

    def job(self, app: int, priority: int, deadline_ns: int | None = None) -> Job:
        """An execution that has just been launched; it does not wait yet."""
        return Job(app, priority, next(self._arrivals), deadline_ns)

    def execute(self, job: Job, work: Callable[[Checkpoint], Result]) -> Result:
        """Do the work when the job's turn comes, and return what it returns.

        work: gets the checkpoint that it calls before each operation; may be called again from the start. Raises
        QueueFullError, ServiceError(MISSED_DEADLINE_*) and what the work raises.
        """
        succeeded = False
        if self._watcher is not None:
            self._watcher.launched(job)
        try:
            self._enter(job)
            result = self._attempt(job, work)
            succeeded = True
            return result
        finally:
            if self._watcher is not None:
                self._watcher.ended(job, succeeded)
            self._leave(job)

    def _attempt(self, job: Job, work: Callable[[Checkpoint], Result]) -> Result:
        while True:
            try:
                return work(lambda: self._checkpoint(job))
            except _StartAgainError:
                self._step_aside(job)

    def _enter(self, job: Job) -> None:
        with self._lock:
            if self._running is None:
                self._start(job)
            elif sum(other.app == job.app for other in self._waiting) >= self._capacity:
                raise QueueFullError(f"{self._capacity} executions of the app are waiting")
            else:
                self._wait(job)

    def _leave(self, job: Job) -> None:
        """Make room: for the next one, or in the queue where the deadline has passed before the job's turn."""
        with self._lock:
            if self._running is job:
                self._start_next()
            elif job in self._waiting:
                self._waiting.remove(job)

    def _checkpoint(self, job: Job) -> None:
        """Between two operations: see that there is time left, and whether somebody else is to go first."""
        self._check_deadline(job)
        job.operations += 1
        if not self._waiting or self._preemption is Preemption.NONE:
            return
        if self._preemption is Preemption.SUBMODELS and job.operations % SUBMODEL:
            return
        if self._is_to_yield(job):
            if self._preemption is Preemption.RESTART:
                raise _StartAgainError
            self._step_aside(job)

    def _is_to_yield(self, job: Job) -> bool:
        with self._lock:
            if any(other.app == job.app and other.priority > job.priority for other in self._waiting):
                return True
            # Two long executions that always begin again would never let each other end.
            others = self._preemption is not Preemption.RESTART and any(one.app != job.app for one in self._waiting)
        return others and self._clock.now_ns() - job.turn_ns >= TURN_NS

    def _step_aside(self, job: Job) -> None:
        """Let the next one have the unit, and wait for another turn."""
        with self._lock:
            if self._preemption is Preemption.RESTART:
                job.operations = 0
            if self._watcher is not None:
                self._watcher.stepped_aside(job)
            self._wait(job)

    def _wait(self, job: Job) -> None:
        """Wait, under the lock, until the job has the unit."""
        since, before = self._clock.now_ns(), job.waited_ns
        job.turn = job.turn or threading.Condition(self._lock)
        self._waiting.append(job)
        if self._running is job:
            self._start_next()
        while self._running is not job:
            job.turn.wait(self._patience(job))
            job.waited_ns = before + self._clock.now_ns() - since
            if self._running is not job:
                self._check_deadline(job)

    def _patience(self, job: Job) -> float | None:
        """Seconds until the job's deadline."""
        if job.deadline_ns is None:
            return None
        return min(max(0.0, (job.deadline_ns - self._clock.now_ns()) / 1e9), threading.TIMEOUT_MAX)

    def _start_next(self) -> None:
        """Give the unit to the app that has not had it for the longest time, and there to the most urgent job."""
        self._running = None
        if not self._waiting:
            return
        latest = self._latest_turn
        job = min(self._waiting, key=lambda one: (latest.get(one.app, 0), -one.priority, one.arrival))
        self._waiting.remove(job)
        self._start(job)
        if job.turn is not None:
            job.turn.notify()

    def _start(self, job: Job) -> None:
        self._running = job
        self._latest_turn[job.app] = next(self._turns)
        job.turn_ns = self._clock.now_ns()
        job.began_ns = job.began_ns or job.turn_ns
        if self._watcher is not None:
            self._watcher.started(job)

    def _check_deadline(self, job: Job) -> None:
        """TRANSIENT where the job would have been in time if it had not waited for others (NNHAL-QOS-016, -017)."""
        if job.deadline_ns is None:
            return
        now = self._clock.now_ns()
        if now >= job.deadline_ns:
            alone = now - job.waited_ns < job.deadline_ns
            status = ErrorStatus.MISSED_DEADLINE_TRANSIENT if alone else ErrorStatus.MISSED_DEADLINE_PERSISTENT
            raise ServiceError(status, f"the deadline has passed, {job.waited_ns} ns of waiting included")
