"""Fences: settled once, merged as sync_merge does, and notified over the wire so that a driver never has to ask."""

from __future__ import annotations

import gc
import socket
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import patience
import pytest

from npu_conformance.harness.wire.connection import Connection
from npu_conformance.harness.wire.framing import LineSocket
from npu_conformance.harness.wire.protocol import FenceNews
from npu_conformance.specs.errors import DeadObject, ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, FenceState
from npu_conformance.specs.neuralnetworks.fences import FOR_EVER_NS, SettableFence, merged

EMPTY = types.Request((), (), ())
WAITING, SIGNALLED, ERROR = FenceState.UNSIGNALLED, FenceState.SIGNALLED, FenceState.ERROR


class Blind(hal.Fence):
    """A fence that cannot be watched, only waited for."""

    def __init__(self, inner: SettableFence) -> None:
        self.inner = inner

    def get_state(self) -> int:
        return self.inner.get_state()

    def wait(self, timeout_ns: int) -> int:
        return self.inner.wait(timeout_ns)


def test_the_first_word_counts() -> None:
    fence = SettableFence()
    received: list[int] = []
    fence.watch(received.append)
    assert fence.get_state() == WAITING
    fence.settle(WAITING)
    fence.fail()
    fence.signal()
    fence.watch(received.append)
    assert (fence.get_state(), received) == (ERROR, [ERROR, ERROR])


def test_waiting_ends_with_the_signal_or_with_the_time() -> None:
    fence = SettableFence()
    assert fence.wait(1_000_000) == WAITING
    threading.Timer(0.01, fence.signal).start()
    assert fence.wait(FOR_EVER_NS) == SIGNALLED


@pytest.mark.parametrize("kind", [lambda fence: fence, Blind])
def test_all_must_signal(kind: type) -> None:
    fences = [SettableFence() for _ in range(3)]
    whole = merged([kind(fence) for fence in fences])
    for fence in (fences[2], fences[0]):
        fence.signal()
        assert whole.wait(1_000_000) == WAITING
    fences[1].signal()
    assert whole.wait(FOR_EVER_NS) == SIGNALLED


@pytest.mark.parametrize("kind", [lambda fence: fence, Blind])
def test_one_failure_is_enough(kind: type) -> None:
    fences = [SettableFence() for _ in range(3)]
    whole = merged([kind(fence) for fence in fences])
    fences[1].fail()
    assert whole.wait(FOR_EVER_NS) == ERROR


class Orphaned(Blind):
    """A fence whose owner dies while somebody waits."""

    def wait(self, timeout_ns: int) -> int:
        raise DeadObject("the process is gone")


def test_a_fence_whose_owner_dies_fails() -> None:
    whole = merged([Orphaned(SettableFence()), SettableFence()])
    assert whole.wait(int(patience.SECONDS) * 1_000_000_000) == ERROR


def test_no_fences_have_signalled() -> None:
    assert merged(()).get_state() == SIGNALLED


def test_who_forgets_a_fence_is_forgotten_by_it() -> None:
    fence = SettableFence()
    whole = weakref.ref(merged([fence]))
    del fence
    gc.collect()
    assert whole() is None


class Asking(hal.PreparedModel):
    """A driver that says what it knows of its wait fences, and keeps them."""

    def __init__(self) -> None:
        self.held: list[hal.Fence] = []
        self.waits = threading.Event()

    def execute_fenced(self, request: Any, wait_for: Any, *rest: Any) -> hal.FencedExecutionResult:
        states = "".join("-" if fence is None else str(fence.get_state()) for fence in wait_for)
        if rest[0]:
            self.waits.set()
            states += str(wait_for[0].wait(FOR_EVER_NS))
        self.held += [fence for fence in wait_for if fence is not None]
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, states)


class Link:
    """Both ends of a connection; the driver's is served by a thread."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self.driver = Asking()
        self.host = Connection(LineSocket(theirs), +1, strict=False)
        self.host.builtins["fence.state"] = (FenceNews, self.host.objects.fence_news)
        self.harness = Connection(LineSocket(ours), -1, strict=True)
        number = self.host.objects.number_of(self.driver)
        self.model: hal.PreparedModel = self.harness.objects.object_of(number, hal.PreparedModel)
        threading.Thread(target=self.host.serve, daemon=True).start()

    def states(self, *fences: hal.Fence | None, wait: bool = False) -> str:
        """What the driver knows when it is called; with `wait` also how the first fence ended."""
        with pytest.raises(ServiceError) as caught:
            self.model.execute_fenced(EMPTY, fences, wait, -1, -1, -1)
        return str(caught.value)


@pytest.fixture
def link() -> Iterator[Link]:
    made = Link()
    yield made
    made.harness.close()


def test_a_driver_is_told_before_it_is_called(link: Link) -> None:
    fences = [SettableFence() for _ in range(3)]
    fences[1].signal()
    fences[2].fail()
    assert link.states(*fences, None).endswith("012-")
    fences[0].signal()
    assert link.states(*fences, None).endswith("112-")


def test_what_a_driver_holds_follows_the_fence(link: Link) -> None:
    fences = [SettableFence() for _ in range(2)]
    link.states(*fences)
    fences[0].fail()
    fences[1].signal()
    assert [fence.wait(FOR_EVER_NS) for fence in link.driver.held] == [ERROR, SIGNALLED]


def test_a_driver_may_wait_in_the_call(link: Link) -> None:
    fence = SettableFence()

    def signal() -> None:
        assert link.driver.waits.wait(patience.SECONDS)
        fence.signal()

    threading.Thread(target=signal).start()
    assert link.states(fence, wait=True).endswith("01")


def test_a_fence_that_is_watched_is_not_forgotten(link: Link) -> None:
    fence, notified = SettableFence(), threading.Event()
    received: list[int] = []

    def hear(state: int) -> None:
        received.append(state)
        notified.set()

    link.states(fence)
    held = link.driver.held.pop()
    assert isinstance(held, SettableFence)
    held.watch(hear)
    gc.collect()
    fence.signal()
    assert notified.wait(patience.SECONDS)
    assert received == [SIGNALLED]


def test_a_fence_of_a_dead_client_is_in_error(link: Link) -> None:
    link.states(SettableFence())
    link.harness.close()
    assert link.driver.held[0].wait(FOR_EVER_NS) == ERROR


def test_a_fence_settled_after_the_end_harms_nobody(link: Link) -> None:
    fence = SettableFence()
    link.states(fence)
    link.harness.close()
    fence.signal()
    assert fence.get_state() == SIGNALLED
