"""Where drivers come from: processes that can die, and be there again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.versions import Version


class Service(Protocol):
    """A driver's service, by the name under which it is registered. version: of the HAL, of each device it gives."""

    name: str
    version: Version

    def acquire(self, *, wait: bool) -> hal.Device | None:
        """The device of the living process; None where there is none, unless wait is set: then wait for one."""
        ...

    def on_death(self, listener: Callable[[], None]) -> None:
        """Call the listener each time that the process dies."""
        ...


class LivingService:
    """A device that lives as long as this process."""

    def __init__(self, name: str, version: Version, device: hal.Device) -> None:
        self.name, self.version = name, version
        self._device = device

    def acquire(self, *, wait: bool) -> hal.Device | None:
        """The one device."""
        return self._device

    def on_death(self, listener: Callable[[], None]) -> None:
        """Do nothing: the device does not die."""
