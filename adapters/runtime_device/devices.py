"""What a runtime says of itself and of its devices, and the device that is shown as a driver."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.devices import MOST_DEVICES
from npu_conformance.specs.neuralnetworks.runtime.result_codes import FEATURE_LEVELS, ResultCode
from npu_conformance.specs.suggestions import did_you_mean
from npu_conformance.specs.versions import OLDEST, Version

OPTION = "device"
"""The plug-in's option that names a device."""


class FoundDevice(msgspec.Struct, frozen=True):
    """A device of the runtime. feature_level: in the API's numbers."""

    name: str
    version: str
    feature_level: int


class Findings(msgspec.Struct, frozen=True):
    """What a runtime says of itself. feature_level: of the runtime. devices: in their order; none below level 3."""

    feature_level: Version
    devices: tuple[FoundDevice, ...] = ()

    def chosen(self, spec: str, options: Mapping[str, str]) -> FoundDevice | None:
        """The device that the options ask for; None below feature level 3, which has no list. Raises LoadError.

        spec: names the plug-in.
        """
        if OPTION not in options:
            return self.devices[0] if self.devices else None
        wanted = options[OPTION]
        for device in self.devices:
            if device.name == wanted:
                return device
        known = [device.name for device in self.devices]
        raise LoadError(
            f"plug-in {spec}: option device: no device {wanted!r}{did_you_mean(wanted, known)}; "
            f"there are: {', '.join(known) or 'none'}"
        )

    def hal_version(self, chosen: FoundDevice | None) -> Version:
        """That of the chosen device, at most the runtime's."""
        return self.feature_level if chosen is None else min(self.feature_level, version_of(chosen.feature_level))

    @property
    def described_option(self) -> dict[str, str]:
        """The option with what it means, for a manifest."""
        names = ", ".join(device.name for device in self.devices) or "none that the runtime reports"
        return {OPTION: f"which device the tests of drivers run on (default: the first): {names}"}


def look(runtime: Runtime) -> Findings:
    """Ask a runtime which feature level and which devices it has. Raises LoadError where it does not tell."""
    functions = runtime.functions()
    if "get_runtime_feature_level" in functions:
        level = version_of(runtime.get_runtime_feature_level())
    else:
        level = max((describe(Runtime)[name].mark.since for name in functions), default=OLDEST)
    return Findings(level, _devices(runtime) if "get_device_count" in functions else ())


def version_of(feature_level: int) -> Version:
    """The newest version whose feature level, in the API's numbers, is at most this one."""
    return max((version for version, number in FEATURE_LEVELS.items() if number <= feature_level), default=OLDEST)


def _devices(runtime: Runtime) -> tuple[FoundDevice, ...]:
    count = runtime.get_device_count(True)
    if count.result != ResultCode.NO_ERROR:
        raise LoadError(f"ANeuralNetworks_getDeviceCount returned {count.result}")
    if not 0 <= count.value <= MOST_DEVICES:
        raise LoadError(f"ANeuralNetworks_getDeviceCount says that there are {count.value} devices")
    return tuple(_device(runtime, runtime.get_device(index, True).handle) for index in range(count.value))


def _device(runtime: Runtime, handle: int) -> FoundDevice:
    name, version = runtime.device_get_name(handle, True).value, runtime.device_get_version(handle, True).value
    return FoundDevice(name or "", version or "", runtime.device_get_feature_level(handle, True).value)
