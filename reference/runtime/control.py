"""Steers the reference runtime: its drivers, its system properties, and who the app is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from npu_conformance.reference.extensions import own
from npu_conformance.reference.runtime.api import ReferenceRuntime
from npu_conformance.reference.runtime.objects.environment import Environment
from npu_conformance.reference.runtime.objects.extensions import Extensions
from npu_conformance.specs.errors import NotVisible
from npu_conformance.specs.neuralnetworks.runtime.control import (
    AppProcess,
    DriverCall,
    DriverScript,
    ExecutedOperations,
    RuntimeControl,
)


class Drivers(Protocol):
    """The registered drivers. Its methods are those of RuntimeControl."""

    def set_drivers(self, drivers: tuple[DriverScript, ...]) -> None:
        """Let these be the drivers."""
        ...

    def reset(self) -> None:
        """Return to the drivers that it started with."""
        ...

    def driver_calls(self, driver: str) -> tuple[DriverCall, ...]:
        """What a scripted driver was asked."""
        ...

    def executed_operations(self) -> tuple[ExecutedOperations, ...]:
        """What each device has executed since this was asked last."""
        ...

    def release(self, driver: str) -> None:
        """Let blocked calls return."""
        ...

    def revive(self, driver: str) -> None:
        """Start a process that has died."""
        ...


class SystemProperties(Protocol):
    """System properties by name; empty where they have their defaults."""

    def set(self, name: str, value: str) -> None:
        """Set a property."""
        ...

    def clear(self) -> None:
        """Return to the defaults."""
        ...


class ReferenceRuntimeControl(RuntimeControl):
    """See RuntimeControl. new_environment: makes what stands behind the API for a process."""

    def __init__(
        self,
        runtime: ReferenceRuntime,
        drivers: Drivers,
        properties: SystemProperties,
        new_environment: Callable[[AppProcess | None], Environment],
    ) -> None:
        self._runtime, self._drivers, self._properties = runtime, drivers, properties
        self._new_environment = new_environment

    def set_drivers(self, drivers: tuple[DriverScript, ...]) -> None:
        """See RuntimeControl. NotVisible for drivers with an extension that this process does not know."""
        listed = {extension.name for script in drivers for extension in script.extensions}
        if unknown := listed & own.unregistered():
            raise NotVisible(f"the harness's process, which is shared, does not know {', '.join(sorted(unknown))}")
        self._drivers.set_drivers(drivers)
        self._runtime.use(self._new_environment(self._extensions.process))

    def reset(self) -> None:
        """See RuntimeControl."""
        self._properties.clear()
        self._drivers.reset()
        self._runtime.use(self._new_environment(None))

    def driver_calls(self, driver: str) -> tuple[DriverCall, ...]:
        """See RuntimeControl."""
        return self._drivers.driver_calls(driver)

    def executed_operations(self) -> tuple[ExecutedOperations, ...]:
        """See RuntimeControl."""
        return self._drivers.executed_operations()

    def release(self, driver: str) -> None:
        """See RuntimeControl."""
        self._drivers.release(driver)

    def revive(self, driver: str) -> None:
        """See RuntimeControl."""
        self._drivers.revive(driver)

    def set_property(self, name: str, value: str) -> None:
        """See RuntimeControl."""
        self._properties.set(name, value)

    def set_process(self, process: AppProcess) -> None:
        """See RuntimeControl. Prefixes that were given out stay."""
        self._extensions.process = process

    def live_objects(self) -> int:
        """See RuntimeControl. Devices are none of them: the runtime made them, and nobody frees them."""
        return self._runtime.handles.count()

    @property
    def _extensions(self) -> Extensions:
        return self._runtime.environment.extensions
