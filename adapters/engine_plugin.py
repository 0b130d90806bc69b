"""Makes a plug-in of an engine that has no settings."""

from __future__ import annotations

from collections.abc import Mapping

from npu_conformance.adapters.engine import Engine
from npu_conformance.specs import versions
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import Version

DEFAULT_VERSION = Version.V1_3

HAL_OPTION = f"version of the Neural Networks HAL, 1.0 to fl8 (default: {DEFAULT_VERSION})"
"""What the option `hal` means."""


def hal_version(options: Mapping[str, str]) -> Version:
    """The version that the option `hal` asks for."""
    return versions.parse(options.get("hal", DEFAULT_VERSION.value))


def create(context: Context, engine: Engine) -> Subject:
    """A driver over the engine, of the version that the options ask for."""
    from npu_conformance.adapters.engine_device import EngineDevice

    return Subject(device=EngineDevice(context, hal_version(context.options), engine))


def engine_plugin(engine: Engine, vendor: str) -> Plugin:
    """The plug-in of an engine without settings; its one option is `hal`."""

    def manifest(options: Mapping[str, str]) -> Manifest:
        return Manifest(
            name=engine.name,
            vendor=vendor,
            version=engine.version(),
            interfaces=("device",),
            hal_version=hal_version(options),
            instance=f"{engine.name}-cpu",
            options={"hal": HAL_OPTION},
        )

    return Plugin(manifest=manifest, create=lambda context: create(context, engine))
