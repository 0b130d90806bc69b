"""Manifest and factory of a library's plug-in.

Importing this module imports cffi, so that it is there before hosts are forked; the library is loaded in them alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from npu_conformance.adapters.nnapi_c.library import Library
from npu_conformance.adapters.nnapi_c.probe import FoundDevice, probe, version_of
from npu_conformance.adapters.nnapi_c.runtime import LibraryRuntime
from npu_conformance.adapters.runtime_device.device import RuntimeDevice
from npu_conformance.adapters.runtime_device.local_memory import LocalMemory
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.suggestions import did_you_mean
from npu_conformance.specs.versions import Version


def of_library(path: str) -> Plugin:
    """The plug-in of the library at a path."""
    path = os.path.abspath(path)

    def manifest(options: Mapping[str, str]) -> Manifest:
        return _manifest(path, options)

    def create(context: Context) -> Subject:
        memory = LocalMemory(context.memory)
        runtime = LibraryRuntime(Library(path), memory, context.descriptors)
        chosen = _chosen(path, context.options)
        name = None if chosen is None else chosen.name
        version = _hal_version(path, context.options)
        return Subject(device=RuntimeDevice(runtime, name, version, memory, context.clock), runtime=runtime)

    return Plugin(manifest=manifest, create=create)


def _manifest(path: str, options: Mapping[str, str]) -> Manifest:
    chosen = _chosen(path, options)
    names = ", ".join(device.name for device in probe(path).devices) or "none that the library tells of"
    return Manifest(
        name=_name(path),
        vendor="unknown" if chosen is None else chosen.name,
        version=(chosen and chosen.version) or "unknown",
        interfaces=("device", "runtime"),
        hal_version=_hal_version(path, options),
        feature_level=probe(path).feature_level,
        options={"device": f"which device the tests of drivers run on (default: the first): {names}"},
    )


def _chosen(path: str, options: Mapping[str, str]) -> FoundDevice | None:
    """The device that the options ask for; None below feature level 3, which has no list of devices."""
    devices = probe(path).devices
    if "device" not in options:
        return devices[0] if devices else None
    wanted = options["device"]
    for device in devices:
        if device.name == wanted:
            return device
    known = [device.name for device in devices]
    raise LoadError(
        f"plug-in {path}: option device: no device {wanted!r}{did_you_mean(wanted, known)}; "
        f"there are: {', '.join(known) or 'none'}"
    )


def _hal_version(path: str, options: Mapping[str, str]) -> Version:
    """That of the chosen device, at most the runtime's."""
    chosen, runtime = _chosen(path, options), probe(path).feature_level
    return runtime if chosen is None else min(runtime, version_of(chosen.feature_level))


def _name(path: str) -> str:
    """A manifest's name from that of a file: `libneuralnetworks.so` -> `libneuralnetworks`."""
    stem = os.path.basename(path).partition(".so")[0].lower()
    return re.sub(r"[^a-z0-9_.-]", "_", stem).lstrip("_.-")[:64] or "library"
