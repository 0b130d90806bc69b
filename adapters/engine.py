"""An engine made a driver: what you write to test an engine of your own (docs/adapters.md), and `engine_plugin`.

An engine lowers a graph whose input shapes are known into a form of its own, and runs it. Everything else a driver
does (engine_device, engine_support, engine_executor, engine_witness) is the same for each of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from npu_conformance.adapters.engine_device import EngineDevice
from npu_conformance.adapters.engine_interface import (
    NO_CALLEES,
    Array,
    Callees,
    Engine,
    EngineError,
    EngineMissingError,
    Lowered,
    Run,
    Shape,
    module,
)
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs import versions
from npu_conformance.specs.manifest import Deadlines, Manifest
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import Version

__all__ = [
    "HAL_OPTION",
    "NO_CALLEES",
    "Array",
    "Callees",
    "Engine",
    "EngineError",
    "EngineMissingError",
    "Lowered",
    "Run",
    "Shape",
    "create",
    "engine_plugin",
    "hal_version",
    "module",
]

DEFAULT_VERSION = Version.V1_3

HAL_OPTION = f"version of the Neural Networks HAL, 1.0 to fl8 (default: {DEFAULT_VERSION})"
"""What the option `hal` means."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")


_DEADLINES = Deadlines(prepare=60.0, call=60.0)
"""An engine is asked for each operation by itself, which takes a while for a graph of hundreds."""


def engine_plugin(engine: Engine, vendor: str) -> Plugin:
    """The plug-in of an engine without settings; its one option is `hal`."""

    def manifest(options: Mapping[str, str]) -> Manifest:
        return Manifest(
            name=_checked(engine.name),
            vendor=vendor,
            version=engine.version(),
            interfaces=("device",),
            hal_version=hal_version(options),
            instance=instance_name(engine),
            options={"hal": HAL_OPTION},
            deadlines=_DEADLINES,
        )

    return Plugin(manifest=manifest, create=lambda context: create(context, engine))


def instance_name(engine: Engine) -> str:
    """HIDL's name of the device, `vendor-device` with one hyphen: those of the engine's name become underscores."""
    return f"{engine.name.replace('-', '_')}-cpu"


def hal_version(options: Mapping[str, str]) -> Version:
    """The version that the option `hal` asks for."""
    return versions.parse(options.get("hal", DEFAULT_VERSION.value))


def create(context: Context, engine: Engine) -> Subject:
    """A driver over the engine, of the version that the options ask for."""
    return Subject(device=EngineDevice(context, hal_version(context.options), engine))


def _checked(name: str) -> str:
    if _NAME.fullmatch(name):
        return name
    raise LoadError(
        f"engine name {name!r}: expected at most 64 small letters, digits and '_ . -', with a letter or digit first"
    )
