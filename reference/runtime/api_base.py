"""What the parts of the API share: the handles, and what stands behind them."""

from __future__ import annotations

from npu_conformance.reference.runtime.backend import RuntimeDevice, RuntimeFailure
from npu_conformance.reference.runtime.handles import Handles
from npu_conformance.reference.runtime.objects.environment import Environment
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode


class ApiBase:
    """One runtime in one process. handles: of objects that the app frees. Devices have theirs for ever."""

    environment: Environment
    handles: Handles
    _device_handles: dict[RuntimeDevice, int]

    def devices(self) -> list[int]:
        """The handles of the devices, in order."""
        known = self._device_handles
        for device in self.environment.compiler.devices:
            if device not in known:
                known[device] = self.handles.next()
        return [known[device] for device in self.environment.compiler.devices]

    def device(self, handle: int) -> RuntimeDevice:
        """The device of a handle. Raises UNEXPECTED_NULL, BAD_DATA for what is no device's."""
        for device, known in self._device_handles.items():
            if known == handle:
                return device
        result = ResultCode.BAD_DATA if handle else ResultCode.UNEXPECTED_NULL
        raise RuntimeFailure(result, f"{handle} is no device")

    def device_list(self, handles: tuple[int, ...]) -> list[RuntimeDevice]:
        """The devices of a list (FW-CMP-002, FW-MDL-028): not empty, none null, none twice."""
        if not handles:
            raise RuntimeFailure(ResultCode.BAD_DATA, "there are no devices")
        for number, handle in enumerate(handles):
            if not handle:
                raise RuntimeFailure(ResultCode.UNEXPECTED_NULL, f"device {number} of the list is null")
            if handle in handles[:number]:
                raise RuntimeFailure(ResultCode.BAD_DATA, f"device {number} of the list was there before")
        return [self.device(handle) for handle in handles]
