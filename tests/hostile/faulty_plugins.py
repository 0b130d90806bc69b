"""Python plug-ins that fail: in a call, when they are made, or in their manifests."""

from __future__ import annotations

import os
import signal
from typing import Any, cast

import msgspec

from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import Version

_MANIFEST = Manifest(name="faulty", vendor="tests", version="1", hal_version=Version.V1_2)
_SMALL = msgspec.structs.replace(_MANIFEST, memory_limit=256 << 20)
_FRESH = msgspec.structs.replace(_MANIFEST, restart="spawn")

number = 3


class _Base(hal.Device):
    def get_version_string(self) -> str:
        return "fine"


class _Eater(_Base):
    def get_type(self) -> int:
        eaten = []
        while True:
            eaten.append(bytearray(16 << 20))


class _Crasher(_Base):
    def get_type(self) -> int:
        os.write(2, b"before the crash\n")
        signal.raise_signal(signal.SIGSEGV)
        return 1


def _fail(context: Context) -> Subject:
    raise RuntimeError("no board")


def _resettable(options: Any) -> Manifest:
    command = ("touch", options["file"])
    return msgspec.structs.replace(_MANIFEST, reset_command=command, options={"file": "made by the reset"})


def _bad_manifest(options: Any) -> Manifest:
    return msgspec.json.decode(b'{"name": "x", "vendor": "v", "version": "1", "time_scale": -1}', type=Manifest)


eater = Plugin(_SMALL, lambda context: Subject(device=_Eater()))
crasher = Plugin(_MANIFEST, lambda context: Subject(device=_Crasher()))
fresh_crasher = Plugin(_FRESH, lambda context: Subject(device=_Crasher()))
does_not_start = Plugin(_MANIFEST, _fail)
resettable = Plugin(_resettable, lambda context: Subject(device=_Crasher()))
descriptor_alone = Plugin(
    msgspec.structs.replace(_MANIFEST, memory_transports=("descriptor",)), lambda context: Subject(device=_Base())
)
single = Plugin(msgspec.structs.replace(_MANIFEST, max_instances=1), lambda context: Subject(device=_Base()))
wrong_manifest = Plugin(
    lambda options: Manifest(name="x", vendor="v", version="1", interfaces=cast(Any, ("devise",)), time_scale=0.0),
    lambda context: Subject(device=_Base()),
)
bad_manifest = Plugin(_bad_manifest, lambda context: Subject(device=_Base()))
