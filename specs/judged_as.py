"""What a subject is judged as: a driver by its HAL, a runtime by its feature level, services by their names."""

from __future__ import annotations

from collections.abc import Mapping

from npu_conformance.specs.manifest import InterfaceName, Manifest

_SERVICES: Mapping[InterfaceName, str] = {"scheduling": "npu scheduling HAL", "manager": "NPU Manager"}
"""Those without a version."""


def judged_as(manifest: Manifest, hal_version: str) -> str:
    """`HAL 1.3`, `NNAPI feature level 3 (1.2)`, or the services that there are. hal_version: that of the run."""
    level = manifest.feature_level
    if "device" not in manifest.interfaces and "runtime" in manifest.interfaces:
        return f"NNAPI feature level {level.feature_level}" + ("" if level.is_aidl else f" ({level})")
    services = [name for interface, name in _SERVICES.items() if interface in manifest.interfaces]
    return " and ".join(services) if services and "device" not in manifest.interfaces else f"HAL {hal_version}"


def short(manifest: Manifest, hal_version: str) -> str:
    """The same in a word, for the names of folders; empty for services, which have no version."""
    told = judged_as(manifest, hal_version)
    if told.startswith("HAL "):
        return hal_version
    return f"level{manifest.feature_level.feature_level}" if "runtime" in manifest.interfaces else ""
