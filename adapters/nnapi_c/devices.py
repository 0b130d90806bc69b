"""ANeuralNetworks_* and ANeuralNetworksDevice_*, called in the library."""

from __future__ import annotations

from npu_conformance.adapters.nnapi_c.arguments import Written, text
from npu_conformance.adapters.nnapi_c.caller import Caller
from npu_conformance.specs.neuralnetworks.runtime.devices import DeviceFunctions
from npu_conformance.specs.neuralnetworks.runtime.types import Flag, Handle, Number, Text


class Devices(Caller, DeviceFunctions):
    """See DeviceFunctions: every method calls the C function of its name, and does nothing else."""

    def functions(self) -> tuple[str, ...]:
        return self._library.methods()

    def get_device_count(self, num_devices: bool) -> Number:
        count = Written("uint32_t", num_devices)
        return Number(self._call("get_device_count", count), count.value())

    def get_device(self, index: int, device: bool) -> Handle:
        handle = Written("Handle", device)
        return Handle(self._call("get_device", index, handle), handle.value())

    def device_get_name(self, device: int, name: bool) -> Text:
        found = Written("char *", name)
        return Text(self._call("device_get_name", device, found), found.text())

    def device_get_version(self, device: int, version: bool) -> Text:
        found = Written("char *", version)
        return Text(self._call("device_get_version", device, found), found.text())

    def device_get_type(self, device: int, type: bool) -> Number:
        found = Written("int32_t", type)
        return Number(self._call("device_get_type", device, found), found.value())

    def device_get_feature_level(self, device: int, feature_level: bool) -> Number:
        found = Written("int64_t", feature_level)
        return Number(self._call("device_get_feature_level", device, found), found.value())

    def device_wait(self, device: int) -> int:
        return int(self._call("device_wait", device))

    def get_runtime_feature_level(self) -> int:
        return int(self._call("get_runtime_feature_level"))

    def get_default_loop_timeout(self) -> int:
        return int(self._call("get_default_loop_timeout"))

    def get_maximum_loop_timeout(self) -> int:
        return int(self._call("get_maximum_loop_timeout"))

    def device_get_extension_support(self, device: int, extension_name: str | None, is_supported: bool) -> Flag:
        found = Written("uint8_t", is_supported)
        result = self._call("device_get_extension_support", device, text(extension_name), found)
        return Flag(result, bool(found.value()) if found.values() else None)
