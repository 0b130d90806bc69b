"""The device as the driver of the runtime: what an adapter cannot show of it is assumed, and it may be preferred."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from npu_conformance.reference.hal.capabilities import capabilities
from npu_conformance.specs.errors import NotVisible
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.versions import Version

Answer = TypeVar("Answer")

_RATIO = 0.5
"""Of the CPU's time and power, so that the device is chosen for whatever it supports."""


class BelowRuntime(hal.Device):
    """Every method but the three below is the device's own. is_preferred: whatever it says of its performance."""

    def __init__(self, device: hal.Device, version: Version, *, is_preferred: bool) -> None:
        self._device, self._version, self._is_preferred = device, version, is_preferred
        for name in describe(hal.Device):
            if name not in vars(BelowRuntime):
                setattr(self, name, getattr(device, name))

    def get_capabilities(self) -> types.Capabilities:
        """The performance by which the runtime chooses."""
        assumed = capabilities(self._version, _RATIO)
        return assumed if self._is_preferred else _shown(self._device.get_capabilities, assumed)

    def get_supported_extensions(self) -> tuple[types.Extension, ...]:
        """See Device."""
        return _shown(self._device.get_supported_extensions, ())

    def get_number_of_cache_files_needed(self) -> types.NumberOfCacheFiles:
        """See Device."""
        return _shown(self._device.get_number_of_cache_files_needed, types.NumberOfCacheFiles(0, 0))


def _shown(ask: Callable[[], Answer], otherwise: Answer) -> Answer:
    try:
        return ask()
    except NotVisible:
        return otherwise
