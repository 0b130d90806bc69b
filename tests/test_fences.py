"""Fences: settled once, merged as sync_merge does, and told over the wire so that a driver never has to ask."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import FenceState
from npu_conformance.specs.neuralnetworks.fences import FOR_EVER_NS, SettableFence, merged

WAITING, SIGNALLED, ERROR = FenceState.UNSIGNALLED, FenceState.SIGNALLED, FenceState.ERROR


class Blind(hal.Fence):
    """A fence that can not be watched, only waited for."""

    def __init__(self, inner: SettableFence) -> None:
        self.inner = inner

    def get_state(self) -> int:
        return self.inner.get_state()

    def wait(self, timeout_ns: int) -> int:
        return self.inner.wait(timeout_ns)


def test_the_first_word_counts() -> None:
    fence, heard = SettableFence(), []
    fence.watch(heard.append)
    assert fence.get_state() == WAITING
    fence.settle(WAITING)
    fence.fail()
    fence.signal()
    fence.watch(heard.append)
    assert (fence.get_state(), heard) == (ERROR, [ERROR, ERROR])


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


def test_no_fences_have_signalled() -> None:
    assert merged(()).get_state() == SIGNALLED


def test_who_forgets_a_fence_is_forgotten_by_it() -> None:
    fence = SettableFence()
    whole = weakref.ref(merged([fence]))
    del fence
    gc.collect()
    assert whole() is None
