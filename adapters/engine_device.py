"""hal.Device over a real engine: the reference driver's bookkeeping, and the engine where that one has kernels."""

from __future__ import annotations

from npu_conformance.adapters.engine_executor import EngineExecutor
from npu_conformance.adapters.engine_interface import Engine
from npu_conformance.adapters.engine_support import obstacles
from npu_conformance.reference.device.executor import Runnable
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.reference.hal.memory import mapped
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import DeviceType
from npu_conformance.specs.plugin import Context
from npu_conformance.specs.versions import Version


class EngineDevice(ReferenceDevice):
    """An engine as a driver. What it answers about arguments, versions and memory is the reference's."""

    def __init__(self, context: Context, version: Version, engine: Engine) -> None:
        """version: of the HAL that it serves. engine: what executes the models."""
        super().__init__(context, version)
        self._engine = engine

    def get_version_string(self) -> str:
        """Name of the engine, and version of its package."""
        return f"{self._engine.name}-{self._engine.version()}"

    def get_type(self) -> int:
        """CPU."""
        return DeviceType.CPU

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        """True where the operation alone was lowered, allocated and (if small) run (NNHAL-SUPPORT-*)."""
        self._check_model(model)
        try:
            with mapped(self._context.memory, model.pools) as pools:
                found = obstacles(model, self.version, pools, self._engine)
        except ServiceError:
            # Constants that cannot be read cannot be lowered; the model is valid all the same.
            return (False,) * len(model.main.operations)
        return tuple(obstacle is None for obstacle in found)

    def _first_obstacle(self, model: types.Model, pools: list[memoryview]) -> str | None:
        return next(filter(None, obstacles(model, self.version, pools, self._engine)), None)

    def _executor(self, model: types.Model, pools: list[memoryview]) -> Runnable:
        return EngineExecutor(model, self.version, pools, self._engine)
