"""A fence of the harness, as a driver holds it: its state arrives by notification, so that nobody has to ask."""

from __future__ import annotations

from npu_conformance.harness.wire.binding import Proxy
from npu_conformance.specs.neuralnetworks.enums import FenceState
from npu_conformance.specs.neuralnetworks.fences import SettableFence, Watcher


class HeldFence(Proxy, SettableFence):
    """The driver's end of a fence. `fence.state` settles it; a connection that ends fails it."""

    def wait(self, timeout_ns: int) -> int:
        """Wait. In a call that the harness waits for, read on: the notification comes by the same connection."""
        if self._connection.is_serving():
            self._connection.serve_until(lambda: self.get_state() != FenceState.UNSIGNALLED, timeout_ns / 1e9)
            return self.get_state()
        return super().wait(timeout_ns)

    def watch(self, watcher: Watcher) -> None:
        """Notify the watcher of how the fence ended; until then the connection keeps it, even if nobody else does."""
        self._connection.objects.keep(self)
        super().watch(watcher)
        if self.get_state() != FenceState.UNSIGNALLED:
            self._connection.objects.forget(self)
