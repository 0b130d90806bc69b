"""Fences that their owner settles: what sync_fence is on Android, between objects of one process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import FenceState

FOR_EVER_NS = 2**63 - 1
"""A timeout of `wait` that does not end."""

_LONGEST_SECONDS = threading.TIMEOUT_MAX

Watcher = Callable[[int], None]
"""Receives the state in which a fence ended."""


class SettableFence(hal.Fence):
    """A fence that is signalled or failed once: only the first call counts. Safe to use from several threads."""

    def __init__(self) -> None:
        self._state: int = FenceState.UNSIGNALLED
        self._watchers: list[Watcher] = []
        self._settled = threading.Condition()

    def get_state(self) -> int:
        """The FenceState at this moment."""
        return self._state

    def wait(self, timeout_ns: int) -> int:
        """Wait until the fence is settled, at most timeout_ns nanoseconds; return its FenceState."""
        with self._settled:
            seconds = min(max(timeout_ns, 0) / 1e9, _LONGEST_SECONDS)
            self._settled.wait_for(lambda: self._state != FenceState.UNSIGNALLED, seconds)
            return self._state

    def signal(self) -> None:
        """Signal the fence: the event that it stands for has happened."""
        self.settle(FenceState.SIGNALLED)

    def fail(self) -> None:
        """Put the fence in error: the event will never happen."""
        self.settle(FenceState.ERROR)

    def close(self) -> None:
        """Put an unsettled fence in error, so that nobody waits for ever for an owner that has gone."""
        self.fail()

    def settle(self, state: int) -> None:
        """Signal or fail, unless the fence is settled already. UNSIGNALLED is ignored."""
        with self._settled:
            if self._state != FenceState.UNSIGNALLED or state == FenceState.UNSIGNALLED:
                return
            self._state = state
            watchers, self._watchers = self._watchers, []
            self._settled.notify_all()
        for watcher in watchers:
            watcher(state)

    def watch(self, watcher: Watcher) -> None:
        """Call the watcher once with the final state: in the thread that settles the fence, or now if it is settled."""
        with self._settled:
            if self._state == FenceState.UNSIGNALLED:
                self._watchers.append(watcher)
                return
        watcher(self._state)


def merged(fences: Sequence[hal.Fence]) -> SettableFence:
    """Return a fence that signals when all have signalled, and fails as soon as one fails. Without any, it has."""
    whole, lock, missing = SettableFence(), threading.Lock(), len(fences)

    def settled(state: int) -> None:
        nonlocal missing
        with lock:
            missing -= 1
            last = missing == 0
        if state != FenceState.SIGNALLED:
            whole.fail()
        elif last:
            whole.signal()

    if not fences:
        whole.signal()
    for fence in fences:
        when_settled(fence, settled)
    return whole


def when_settled(fence: hal.Fence, watcher: Watcher) -> None:
    """Call the watcher with the final state of a fence. A thread waits for a fence that cannot be watched."""
    if isinstance(fence, SettableFence):
        fence.watch(watcher)
        return
    threading.Thread(target=lambda: watcher(_final_state(fence)), name="fence", daemon=True).start()


def _final_state(fence: hal.Fence) -> int:
    """Wait until a fence is settled; one whose owner dies meanwhile will never signal (NNHAL-ROBUST-006)."""
    try:
        return fence.wait(FOR_EVER_NS)
    except InterfaceError:
        return FenceState.ERROR
