"""Events of the API: how a computation ended, and fences of others."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Protocol

import msgspec

from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks.enums import FenceState
from npu_conformance.specs.neuralnetworks.fences import FOR_EVER_NS
from npu_conformance.specs.neuralnetworks.hal import Fence
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode


class Event(Protocol):
    """Tells when something is over. Any number of threads may wait for it (FW-EXE-013)."""

    fence: Fence | None
    """The fence behind it, where it has one."""

    def wait(self) -> ResultCode:
        """Wait, and return how it ended."""
        ...


class ThreadEvent:
    """A computation in a thread of its own, which calls drivers for whoever has started it."""

    fence: Fence | None = None

    def __init__(self, compute: Callable[[], ResultCode]) -> None:
        self._compute = compute
        self._result = ResultCode.OP_FAILED
        run = contextvars.copy_context().run
        self._thread = threading.Thread(target=run, args=(self._run,), name="computation", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._result = self._compute()

    def wait(self) -> ResultCode:
        """Wait for the thread."""
        self._thread.join()
        return self._result


class EndedEvent:
    """A computation that was over when the event was made."""

    fence: Fence | None = None

    def __init__(self, result: ResultCode) -> None:
        self._result = result

    def wait(self) -> ResultCode:
        """Return how it ended."""
        return self._result


class WorkEvent:
    """A computation that a driver's fence tells the end of. finish: waits for it and ends the execution."""

    def __init__(self, fence: Fence, finish: Callable[[], ResultCode]) -> None:
        self.fence: Fence | None = fence
        self._finish = finish
        self._lock = threading.Lock()
        self._result: ResultCode | None = None

    def wait(self) -> ResultCode:
        """Wait for the fence; the first who does ends the execution."""
        with self._lock:
            if self._result is None:
                self._result = self._finish()
            return self._result


class FenceEvent:
    """The event of an app's fence."""

    def __init__(self, fence: Fence) -> None:
        self.fence: Fence | None = fence

    def wait(self) -> ResultCode:
        """Wait for the fence; OP_FAILED where it is in error."""
        assert self.fence is not None
        try:
            state = self.fence.wait(FOR_EVER_NS)
        except InterfaceError:
            return ResultCode.OP_FAILED
        return ResultCode.NO_ERROR if state == FenceState.SIGNALLED else ResultCode.OP_FAILED


class ApiEvent(msgspec.Struct, frozen=True, eq=False):
    """An event as the API's object: one kind for its handles."""

    event: Event
