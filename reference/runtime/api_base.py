"""What the parts of the API share: the handles, and what stands behind them."""

from __future__ import annotations

from npu_conformance.reference.runtime.backend import RuntimeDevice, RuntimeFailure
from npu_conformance.reference.runtime.handles import Handles
from npu_conformance.reference.runtime.objects.environment import Environment
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode


class ApiBase:
    """One runtime in one process. handles: of objects. devices: by their own handles, which live as long."""

    environment: Environment
    handles: Handles
    devices: dict[int, RuntimeDevice]

    def device(self, handle: int) -> RuntimeDevice:
        """The device of a handle. Raises UNEXPECTED_NULL, BAD_DATA for what is no device's."""
        if handle in self.devices:
            return self.devices[handle]
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
