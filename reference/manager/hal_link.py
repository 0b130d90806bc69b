"""The manager's connection to the scheduling HAL."""

from __future__ import annotations

import threading
from collections.abc import Callable

from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.errors import DeadObject
from npu_conformance.specs.npu.scheduling import Scheduling, SchedulingCallback
from npu_conformance.specs.npu.types import SchedulingConfig

Configs = tuple[SchedulingConfig, ...]


class HalLink:
    """Sends configs while there is a HAL and pushes are not suspended; what was not sent then comes with the table."""

    def __init__(self, table: Callable[[], Configs], callback: SchedulingCallback) -> None:
        self._table = table
        self._callback = callback
        self._hal: Scheduling | None = None
        self._suspended = False
        self._turn = threading.RLock()
        """Pushes reach the HAL one after the other, so that a newer one is never overtaken."""

    def connect(self, hal: Scheduling) -> None:
        """Talk to this HAL from now on: first the whole table, then the callback (NPU-PRI-006, -007)."""
        with self._turn:
            self._hal = hal
            self._introduce()

    def lost(self) -> None:
        """The HAL has died."""
        with self._turn:
            self._hal = None

    def suspend(self) -> None:
        """Leave the HAL to somebody else (NPU-OBS-005)."""
        with self._turn:
            self._suspended = True

    def resume(self) -> None:
        """Take it back, whatever was done to it."""
        with self._turn:
            self._suspended = False
            self._introduce()

    def push(self, configs: Callable[[], Configs]) -> None:
        """Send what has changed as an incremental update (NPU-PRI-005)."""
        with self._turn:
            self._send(lambda hal: _update(hal, configs()))

    def push_all(self) -> None:
        """Send the whole table, so that the HAL forgets who is not in it."""
        with self._turn:
            self._send(lambda hal: hal.set_scheduling_configs(self._table()))

    def _introduce(self) -> None:
        self.push_all()
        self._send(lambda hal: hal.set_callback(self._callback))

    def _send(self, call: Callable[[Scheduling], None]) -> None:
        if self._hal is None or self._suspended:
            return
        try:
            call(self._hal)
        except DeadObject:
            vlog.log("manager", lambda: "the scheduling HAL has died")
            self._hal = None


def _update(hal: Scheduling, configs: Configs) -> None:
    if configs:
        hal.update_scheduling_configs(configs)
