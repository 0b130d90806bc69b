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
    """Sends configs while there is a HAL and pushes are not suspended; the whole table makes up for those not sent."""

    def __init__(self, table: Callable[[], Configs], callback: SchedulingCallback) -> None:
        self._table = table
        self._callback = callback
        self._hal: Scheduling | None = None
        self._suspended = False
        self._turn = threading.RLock()
        """Held by each push, so that an older one never overtakes a newer one."""

    def connect(self, hal: Scheduling) -> None:
        """Use this HAL from now on: send it first the whole table, then the callback (NPU-PRI-006, -007)."""
        with self._turn:
            self._hal = hal
            self._introduce()

    def lost(self) -> None:
        """Forget the HAL, which has died."""
        with self._turn:
            self._hal = None

    def suspend(self) -> None:
        """Suspend pushes, so that somebody else controls the HAL (NPU-OBS-005)."""
        with self._turn:
            self._suspended = True

    def resume(self) -> None:
        """Resume pushes with the whole table, whatever was done to the HAL."""
        with self._turn:
            self._suspended = False
            self._introduce()

    def push(self, configs: Callable[[], Configs]) -> None:
        """Send what has changed as an incremental update (NPU-PRI-005)."""
        with self._turn:
            self._send(lambda hal: _update(hal, configs()))

    def push_all(self) -> None:
        """Send the whole table, so that the HAL forgets every uid that is not in it."""
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
