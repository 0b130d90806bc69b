"""hal.Device over LiteRT: the reference driver's bookkeeping, and LiteRT where that one has kernels."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.adapters.litert_executor import LiteRtExecutor
from npu_conformance.adapters.litert_runtime import runtime_version
from npu_conformance.adapters.litert_support import obstacles
from npu_conformance.reference.hal import timing
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.reference.hal.memory import mapped
from npu_conformance.reference.hal.prepared_model import ReferencePreparedModel
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import DeviceType, ErrorStatus
from npu_conformance.specs.plugin import Context
from npu_conformance.specs.versions import Version


class LiteRtDevice(ReferenceDevice):
    """LiteRT as a driver. What it answers about arguments, versions and memory is the reference's."""

    def __init__(self, context: Context, version: Version, kernels: str) -> None:
        """kernels: a key of litert_runtime.KERNELS."""
        super().__init__(context, version)
        self._kernels = kernels

    def get_version_string(self) -> str:
        """Version of the LiteRT package, and its kernels."""
        return f"litert-{runtime_version()}-{self._kernels}"

    def get_type(self) -> int:
        """CPU."""
        return DeviceType.CPU

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        """True where the operation alone was lowered, allocated and (if small) run (NNHAL-SUPPORT-*)."""
        self._check_model(model)
        try:
            with mapped(self._context.memory, model.pools) as pools:
                found = obstacles(model, self.version, pools, self._kernels)
        except ServiceError:
            # Constants that can not be read can not be lowered; the model is valid all the same.
            return (False,) * len(model.main.operations)
        return tuple(obstacle is None for obstacle in found)

    def _prepare(self, model: types.Model, deadline_ns: int) -> ReferencePreparedModel:
        timing.check_deadline(self.version, deadline_ns, self._context.clock)
        with mapped(self._context.memory, model.pools) as pools:
            for obstacle in obstacles(model, self.version, pools, self._kernels):
                if obstacle is not None:
                    raise ServiceError(ErrorStatus.GENERAL_FAILURE, obstacle)
            return LiteRtPreparedModel(model, self.version, self._context, pools, self._kernels)


class LiteRtPreparedModel(ReferencePreparedModel):
    """A prepared model that LiteRT runs."""

    def __init__(
        self, model: types.Model, version: Version, context: Context, pools: Sequence[memoryview], kernels: str
    ) -> None:
        """As the reference's. Raises ServiceError(GENERAL_FAILURE) where LiteRT refuses the whole model."""
        super().__init__(model, version, context, pools)
        self._executor = LiteRtExecutor(model, version, pools, kernels)
