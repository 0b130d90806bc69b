"""The reference runtime put together: memory and files under it, the compiler, the API and what steers it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from npu_conformance.reference.runtime.api import ReferenceRuntime
from npu_conformance.reference.runtime.app_memory import AppMemory
from npu_conformance.reference.runtime.control import ReferenceRuntimeControl
from npu_conformance.reference.runtime.objects.environment import Environment
from npu_conformance.reference.runtime.objects.extensions import Extensions
from npu_conformance.reference.runtime.planning.compiler import ReferenceCompiler
from npu_conformance.reference.runtime.planning.local_files import LocalFiles
from npu_conformance.reference.runtime.planning.memory_maker import ReferenceMemoryMaker
from npu_conformance.reference.runtime.planning.pools import LocalPools
from npu_conformance.reference.runtime.planning.properties import Properties
from npu_conformance.reference.runtime.planning.services import Service
from npu_conformance.reference.runtime.scripted.device import scripted_service
from npu_conformance.reference.runtime.scripted.service import ScriptedService
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.neuralnetworks.runtime.control import (
    AppProcess,
    DriverCall,
    DriverScript,
    ExecutedOperations,
)
from npu_conformance.specs.plugin import Context
from npu_conformance.specs.versions import NEWEST, Version


class RuntimeService:
    """A runtime in this process. driver_context: for drivers in this process, which reach its memory and files too."""

    def __init__(self, context: Context, level: Version = NEWEST) -> None:
        self._level = level
        self._app_memory = AppMemory(context.memory)
        self._pools = LocalPools(self._app_memory)
        files = LocalFiles(context.files)
        self.driver_context = dataclasses.replace(context, memory=self._pools, files=files)
        self._properties = Properties()
        self._compiler = ReferenceCompiler(self._pools, files, context.clock, self._properties, level)
        self._memories = ReferenceMemoryMaker(self._pools)

    def start(self, services: Sequence[Service]) -> tuple[ReferenceRuntime, ReferenceRuntimeControl]:
        """The API and what steers it. services: drivers that it has from the start, in order."""
        drivers = RegisteredDrivers(self._compiler, services, self.driver_context)
        runtime = ReferenceRuntime(self._environment(None))
        return runtime, ReferenceRuntimeControl(runtime, drivers, self._properties, self._environment)

    def _environment(self, process: AppProcess | None) -> Environment:
        return Environment(
            self._level,
            self._app_memory,
            self._pools,
            self._compiler,
            self._memories,
            Extensions(self._compiler.devices, process),
            self._properties.text,
        )


class RegisteredDrivers:
    """See control.Drivers."""

    def __init__(self, compiler: ReferenceCompiler, services: Sequence[Service], context: Context) -> None:
        self._compiler, self._first, self._context = compiler, services, context
        self._scripted: dict[str, ScriptedService] = {}
        self.reset()

    def set_drivers(self, drivers: tuple[DriverScript, ...]) -> None:
        """Let these be the drivers, from a process of their own each."""
        self.release_all()
        self._scripted = {script.name: scripted_service(script, self._context) for script in drivers}
        self._compiler.set_services(tuple(self._scripted.values()))

    def reset(self) -> None:
        """Return to the drivers that it started with."""
        self.release_all()
        self._scripted = {}
        self._compiler.set_services(self._first)

    def release_all(self) -> None:
        """Let what is blocked in drivers that go come to an end."""
        for service in self._scripted.values():
            service.release()

    def driver_calls(self, driver: str) -> tuple[DriverCall, ...]:
        """What a scripted driver was asked. Raises IllegalArgument where there is none of the name."""
        return self._driver(driver).calls

    def executed_operations(self) -> tuple[ExecutedOperations, ...]:
        """What each device has executed since this was asked last."""
        return self._compiler.take_executed()

    def release(self, driver: str) -> None:
        """Let blocked calls return."""
        self._driver(driver).release()

    def revive(self, driver: str) -> None:
        """Start a process that has died."""
        self._driver(driver).revive()

    def _driver(self, name: str) -> ScriptedService:
        if name not in self._scripted:
            raise IllegalArgument(f"there is no scripted driver {name!r}")
        return self._scripted[name]
