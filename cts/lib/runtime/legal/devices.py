"""Legal calls about devices."""

from __future__ import annotations

from collections.abc import Mapping

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.legal.scene import MakeScene, Scene

UNKNOWN_EXTENSION = "com.example.extension_that_nobody_has"


def _get_device_count(app: RuntimeApp) -> Scene:
    return Scene({"num_devices": True})


def _get_device(app: RuntimeApp) -> Scene:
    return Scene({"index": 0, "device": True})


def _query(out: str) -> MakeScene:
    def scene(app: RuntimeApp) -> Scene:
        return Scene({"device": app.devices()[0], out: True})

    return scene


def _device_wait(app: RuntimeApp) -> Scene:
    return Scene({"device": app.devices()[0]})


def _extension_support(app: RuntimeApp) -> Scene:
    return Scene({"device": app.devices()[0], "extension_name": UNKNOWN_EXTENSION, "is_supported": True})


SCENES: Mapping[str, MakeScene] = {
    "get_device_count": _get_device_count,
    "get_device": _get_device,
    "device_get_name": _query("name"),
    "device_get_version": _query("version"),
    "device_get_type": _query("type"),
    "device_get_feature_level": _query("feature_level"),
    "device_wait": _device_wait,
    "device_get_extension_support": _extension_support,
}
