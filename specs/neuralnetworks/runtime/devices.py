"""The NNAPI C API: devices of the runtime, and what it says of itself."""

from __future__ import annotations

from npu_conformance.specs.interfaces import Interface, method, refuse
from npu_conformance.specs.neuralnetworks.runtime.types import Flag, Handle, Number, Text
from npu_conformance.specs.versions import Version

CPU = "nnapi-reference"
"""The name of the runtime's own CPU as a device. A driver may be of type CPU, too."""

MOST_DEVICES = 1000
"""More than any runtime has. Nobody asks for each device of a larger count, which would take for ever."""


class DeviceFunctions(Interface):
    """ANeuralNetworks_* and ANeuralNetworksDevice_*."""

    @method()
    def functions(self) -> tuple[str, ...]:
        """The methods of this interface that the implementation has; a library exports what it exports.

        No part of the C API. A method that is not among them raises Unsupported.
        """
        raise refuse("Runtime.functions")

    @method(since=Version.V1_2)
    def get_device_count(self, num_devices: bool) -> Number:
        """How many devices there are, the runtime's own CPU among them."""
        raise refuse("Runtime.getDeviceCount")

    @method(since=Version.V1_2)
    def get_device(self, index: int, device: bool) -> Handle:
        """The device of an index; the same handle as long as the process lives."""
        raise refuse("Runtime.getDevice")

    @method(since=Version.V1_2)
    def device_get_name(self, device: int, name: bool) -> Text:
        """The name, of which no two devices have the same; the runtime's own is CPU."""
        raise refuse("Runtime.deviceGetName")

    @method(since=Version.V1_2)
    def device_get_version(self, device: int, version: bool) -> Text:
        """The version string of the driver."""
        raise refuse("Runtime.deviceGetVersion")

    @method(since=Version.V1_2)
    def device_get_type(self, device: int, type: bool) -> Number:
        """A RuntimeDeviceType."""
        raise refuse("Runtime.deviceGetType")

    @method(since=Version.V1_2)
    def device_get_feature_level(self, device: int, feature_level: bool) -> Number:
        """One of FEATURE_LEVELS."""
        raise refuse("Runtime.deviceGetFeatureLevel")

    @method(since=Version.V1_3)
    def device_wait(self, device: int) -> int:
        """Wait until the device is in a live state."""
        raise refuse("Runtime.deviceWait")

    @method(since=Version.FL5)
    def get_runtime_feature_level(self) -> int:
        """One of FEATURE_LEVELS."""
        raise refuse("Runtime.getRuntimeFeatureLevel")

    @method(since=Version.V1_3)
    def get_default_loop_timeout(self) -> int:
        """Nanoseconds."""
        raise refuse("Runtime.getDefaultLoopTimeout")

    @method(since=Version.V1_3)
    def get_maximum_loop_timeout(self) -> int:
        """Nanoseconds."""
        raise refuse("Runtime.getMaximumLoopTimeout")

    @method(since=Version.V1_2)
    def device_get_extension_support(self, device: int, extension_name: str | None, is_supported: bool) -> Flag:
        """Whether the device supports a vendor extension (NeuralNetworksExtensions.h)."""
        raise refuse("Runtime.deviceGetExtensionSupport")
