"""Fences as descriptors that can be polled, and back: readable once signalled, with POLLERR where they failed."""

from __future__ import annotations

import os
import select
import socket
import weakref
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from npu_conformance.specs.neuralnetworks.enums import FenceState
from npu_conformance.specs.neuralnetworks.fences import when_settled
from npu_conformance.specs.neuralnetworks.hal import Fence

Result = TypeVar("Result")

_SLICE_NS = 1_000_000
"""How long one look at a fence lasts, while a call is under way."""
_NANOSECONDS_OF_A_MILLISECOND = 1_000_000
_LONGEST_POLL_MS = 2**31 - 1


def descriptor_of(fence: Fence) -> int:
    """A new descriptor that follows a fence; the caller closes it.

    It is one end of a pair of sockets. A byte from the other end makes it readable; where that end closes before
    it has read a byte from this one, the kernel reports an error, which is how sync_wait tells a fence that failed.
    """
    ours, theirs = socket.socketpair()
    theirs.send(b"!")

    def settled(state: int) -> None:
        if state == FenceState.SIGNALLED:
            ours.recv(1)
            ours.send(b"!")
        else:
            ours.close()

    when_settled(fence, settled)
    weakref.finalize(fence, ours.close)
    return theirs.detach()


def unsettled(fences: Iterable[Fence]) -> list[Fence]:
    """Those of the fences that are still open."""
    return [fence for fence in fences if fence.get_state() == FenceState.UNSIGNALLED]


def call_while_open(fences: Sequence[Fence], call: Callable[[], Result]) -> Result:
    """Make a call that may wait for these fences.

    The thread that was asked for it may be the one by which the news of a fence arrive: then it waits for them, and
    another thread makes the call.
    """
    if not unsettled(fences):
        return call()
    with ThreadPoolExecutor(1) as pool:
        calling = pool.submit(call)
        while not calling.done() and (still_open := unsettled(fences)):
            still_open[0].wait(_SLICE_NS)
        return calling.result()


class DescriptorFence(Fence):
    """The fence behind a descriptor, which it owns."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        weakref.finalize(self, os.close, descriptor)

    def get_state(self) -> int:
        """The state at this moment."""
        return self.wait(0)

    def wait(self, timeout_ns: int) -> int:
        """Wait for a signal or an error, at most so long; return the state."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        milliseconds = -(-max(timeout_ns, 0) // _NANOSECONDS_OF_A_MILLISECOND)
        ready = poll.poll(min(milliseconds, _LONGEST_POLL_MS))
        if not ready:
            return FenceState.UNSIGNALLED
        return FenceState.ERROR if ready[0][1] & (select.POLLERR | select.POLLNVAL) else FenceState.SIGNALLED
