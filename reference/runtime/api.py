"""The NNAPI C API of the reference: each method resolves handles in the documented order and calls the object."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from npu_conformance.reference.runtime.api_compilations import CompilationApi
from npu_conformance.reference.runtime.api_devices import DeviceApi
from npu_conformance.reference.runtime.api_executions import ExecutionApi
from npu_conformance.reference.runtime.api_memories import MemoryApi
from npu_conformance.reference.runtime.api_models import ModelApi
from npu_conformance.reference.runtime.backend import RuntimeDevice
from npu_conformance.reference.runtime.handles import Handles
from npu_conformance.reference.runtime.objects.environment import Environment
from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.runtime import Runtime


class ReferenceRuntime(DeviceApi, ModelApi, CompilationApi, ExecutionApi, MemoryApi, Runtime):
    """The reference runtime at one feature level. Safe to call from several threads."""

    def __init__(self, environment: Environment) -> None:
        self.handles = Handles()
        self._newer: list[str] = []
        for name, method in describe(Runtime).items():
            if method.mark.since > environment.level:
                self._newer.append(name)
                setattr(self, name, _missing(name))
        self.use(environment)

    def use(self, environment: Environment) -> None:
        """Go on with other devices. Objects made before are dead; no handle is used twice."""
        self.handles.clear()
        self.environment = environment
        self._device_handles: dict[RuntimeDevice, int] = {}

    def functions(self) -> tuple[str, ...]:
        """The methods that the feature level has (FW-API-007)."""
        return tuple(name for name in describe(Runtime) if name not in self._newer)


def _missing(name: str) -> Callable[..., NoReturn]:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise Unsupported(f"this feature level does not have {name}")

    return refuse
