"""ANeuralNetworks_* and ANeuralNetworksDevice_*."""

from __future__ import annotations

from npu_conformance.reference.runtime.api_base import ApiBase
from npu_conformance.reference.runtime.backend import RuntimeFailure
from npu_conformance.reference.runtime.calls import answer, code, not_null
from npu_conformance.specs.neuralnetworks.runtime.devices import DeviceFunctions
from npu_conformance.specs.neuralnetworks.runtime.result_codes import (
    DEFAULT_LOOP_TIMEOUT_NS,
    FEATURE_LEVELS,
    MAXIMUM_LOOP_TIMEOUT_NS,
    ResultCode,
)
from npu_conformance.specs.neuralnetworks.runtime.types import Flag, Handle, Number, Text

_OK = ResultCode.NO_ERROR


class DeviceApi(ApiBase, DeviceFunctions):
    """Devices of the runtime. What each function does is said in DeviceFunctions."""

    @answer(Number)
    def get_device_count(self, num_devices: bool) -> Number:
        """See DeviceFunctions."""
        not_null(num_devices)
        return Number(_OK, len(self.devices()))

    @answer(Handle)
    def get_device(self, index: int, device: bool) -> Handle:
        """See DeviceFunctions."""
        not_null(device)
        handles = self.devices()
        if not 0 <= index < len(handles):
            raise RuntimeFailure(ResultCode.BAD_DATA, f"device {index} of {len(handles)}")
        return Handle(_OK, handles[index])

    @answer(Text)
    def device_get_name(self, device: int, name: bool) -> Text:
        """See DeviceFunctions."""
        not_null(device, name)
        return Text(_OK, self.device(device).name)

    @answer(Text)
    def device_get_version(self, device: int, version: bool) -> Text:
        """See DeviceFunctions."""
        not_null(device, version)
        return Text(_OK, self.device(device).version_string)

    @answer(Number)
    def device_get_type(self, device: int, type: bool) -> Number:
        """See DeviceFunctions."""
        not_null(device, type)
        number = self.device(device).type
        if number < 0:
            raise RuntimeFailure(ResultCode.OP_FAILED, f"the driver says that its type is {number}")
        return Number(_OK, number)

    @answer(Number)
    def device_get_feature_level(self, device: int, feature_level: bool) -> Number:
        """See DeviceFunctions."""
        not_null(device, feature_level)
        level = min(self.device(device).feature_level, self.environment.level)
        return Number(_OK, FEATURE_LEVELS[level])

    @code
    def device_wait(self, device: int) -> None:
        """See DeviceFunctions."""
        result = self.device(device).wait()
        if result != _OK:
            raise RuntimeFailure(result, "the driver does not come back")

    def get_runtime_feature_level(self) -> int:
        """See DeviceFunctions."""
        return FEATURE_LEVELS[self.environment.level]

    def get_default_loop_timeout(self) -> int:
        """See DeviceFunctions."""
        return DEFAULT_LOOP_TIMEOUT_NS

    def get_maximum_loop_timeout(self) -> int:
        """See DeviceFunctions."""
        return MAXIMUM_LOOP_TIMEOUT_NS

    @answer(Flag)
    def device_get_extension_support(self, device: int, extension_name: str | None, is_supported: bool) -> Flag:
        """See DeviceFunctions."""
        not_null(device, extension_name, is_supported)
        extensions = self.device(device).extensions
        return Flag(_OK, any(extension.name == extension_name for extension in extensions))
