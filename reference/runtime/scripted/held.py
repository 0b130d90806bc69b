"""Fenced executions of a scripted driver that compute late: once somebody waits for them, or once they are let go."""

from __future__ import annotations

import threading
from collections.abc import Callable

from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.fences import SettableFence, Watcher, when_settled
from npu_conformance.specs.neuralnetworks.types import Timing


class HeldFence(SettableFence):
    """The fence of an execution that has not begun. launch: begins it; its own fence settles this one."""

    def __init__(self, launch: Callable[[], hal.FencedExecutionResult]) -> None:
        super().__init__()
        self._launch: Callable[[], hal.FencedExecutionResult] | None = launch
        self._once = threading.Lock()
        self.callback: hal.FencedExecutionCallback | None = None
        """What reports on it; None before it has begun."""

    def begin(self) -> None:
        """Begin, the first time."""
        with self._once:
            launch, self._launch = self._launch, None
        if launch is None:
            return
        try:
            result = launch()
        except InterfaceError:
            self.fail()
            return
        self.callback = result.callback
        if result.sync_fence is None:
            self.signal()
        else:
            when_settled(result.sync_fence, self.settle)


class LazyFence(HeldFence):
    """Begins when somebody waits for it: a thread, or a driver for another execution. To look at it is not to wait."""

    def wait(self, timeout_ns: int) -> int:
        """Begin, unless there is no time to wait."""
        if timeout_ns > 0:
            self.begin()
        return super().wait(timeout_ns)

    def watch(self, watcher: Watcher) -> None:
        """Begin: a driver holds an execution back for this one."""
        super().watch(watcher)
        self.begin()


class HeldCallback(hal.FencedExecutionCallback):
    """Reports on a held execution: GENERAL_FAILURE before it has begun. no_timing: of the driver's version."""

    def __init__(self, fence: HeldFence, no_timing: Timing) -> None:
        self._fence, self._no_timing = fence, no_timing

    def get_execution_info(self) -> hal.FencedExecutionInfo:
        """See hal.FencedExecutionCallback."""
        if self._fence.callback is None:
            return hal.FencedExecutionInfo(ErrorStatus.GENERAL_FAILURE, self._no_timing, self._no_timing)
        return self._fence.callback.get_execution_info()
