"""A load on the device: executions that go on in threads of their own, each judged when the load is gone."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.busy import vagueness
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, busy
from npu_conformance.vts.lib.chain import Runner

_FEW = 16
"""Executions of each runner of a load, on a device that is quick enough."""
_LONGEST_SECONDS = 60.0
"""More than any runner takes to end; calls have deadlines of their own."""


class Load:
    """Executions that go on, each runner's in a thread of its own, until they are told to stop."""

    def __init__(self, runners: Sequence[Runner], pool: ThreadPoolExecutor, most: int) -> None:
        self._most = most
        self.executions = 0
        self._stop = threading.Event()
        self._went_on = threading.Condition()
        self._futures: list[Future[list[int]]] = [pool.submit(self._go_on, runner) for runner in runners]
        for future in self._futures:
            future.add_done_callback(self._tell)

    def wait_for_executions(self, count: int) -> None:
        """Wait until so many executions have ended, or all runners have."""
        with self._went_on:
            self._went_on.wait_for(
                lambda: self.executions >= count or all(one.done() for one in self._futures), timeout=_LONGEST_SECONDS
            )

    def is_over(self) -> bool:
        """True where a runner has ended: the load is less than it was."""
        return any(one.done() for one in self._futures)

    def stop(self) -> None:
        """Let no more executions begin."""
        self._stop.set()

    def statuses(self) -> list[int]:
        """The status of every execution, once all runners have ended. Raises what the executions raised."""
        return [status for future in self._futures for status in future.result()]

    def _go_on(self, runner: Runner) -> list[int]:
        statuses: list[int] = []
        while not self._stop.is_set() and len(statuses) != self._most:
            statuses.append(runner.execute().status)
            with self._went_on:
                self.executions += 1
                self._went_on.notify_all()
        return statuses

    def _tell(self, ended: Future[list[int]]) -> None:
        """Let those who wait know that a runner has ended, however that came."""
        with self._went_on:
            self._went_on.notify_all()


@contextmanager
def under_load(runners: Sequence[Runner], most: int | None = None) -> Iterator[Load]:
    """Keep the device busy for a while. Behind it, every execution of the load must have been right or too much.

    most: how often each runner executes; None for as often as starves nobody.
    """
    context = runners[0].context
    with ThreadPoolExecutor(len(runners)) as pool:
        load = Load(runners, pool, _few(runners) if most is None else most)
        try:
            yield load
        finally:
            load.stop()
        for status in sorted(set(load.statuses())):
            succeeds_or_is_too_much(context, status, "execution that is part of the load")


def _few(runners: Sequence[Runner]) -> int:
    """How often each runner executes: what is urgent may starve the rest of its app meanwhile (NNHAL-QOS-010)."""
    context = runners[0].context
    patience = context.manifest.deadlines.execute * context.manifest.time_scale / 4
    in_time = patience / (len(runners) * max(runner.seconds for runner in runners))
    return max(1, min(_FEW, int(in_time)))


def decline_if_exhausted(context: CaseContext, status: int) -> None:
    """NotSupported where a device refuses an execution for those that it has: it need not take several at once."""
    if status in busy(context.version):
        raise NotSupported("the device takes no execution beside others", vagueness(status, context.version))


def decline_if_some_are_exhausted(context: CaseContext, statuses: Sequence[int]) -> None:
    """NotSupported where a device refuses some of several executions at once: which of them is its choice."""
    refused = [status for status in statuses if status in busy(context.version)]
    if 0 < len(refused) < len(statuses):
        decline_if_exhausted(context, refused[0])


def succeeds_or_is_too_much(context: CaseContext, status: int, what: str) -> None:
    """Check that an execution beside others has succeeded, or was refused for them."""
    if not is_too_much(context, status):
        checks.status(status, {ErrorStatus.NONE, *busy(context.version)}, what)


def is_too_much(context: CaseContext, status: int | None) -> bool:
    """True where a device may mean that it takes no more beside what it has; a warning where it may mean anything."""
    if warning := vagueness(status, context.version):
        context.warn_quality(warning)
    return status in busy(context.version)
