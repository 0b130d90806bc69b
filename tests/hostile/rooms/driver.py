"""The driver of the kinds that act in a call: prepareModelFromCache acts as its token says, and then succeeds."""

from __future__ import annotations

from typing import Any

from npu_conformance.specs.manifest import Deadlines, Manifest
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.types import CacheHandle
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import Version
from rooms import callbacks, calls, shared, wire
from rooms.kind import FOREVER, Call, Kind

ROOMS: dict[str, tuple[Kind, ...]] = {
    "calls": calls.KINDS,
    "callbacks": callbacks.KINDS,
    "wire": wire.KINDS,
    "shared": shared.KINDS,
}
KINDS = {f"{room}.{kind.name}": kind for room, kinds in ROOMS.items() for kind in kinds}
INNOCENT = "innocent"


class _Device(hal.Device):
    def __init__(self, context: Context) -> None:
        self._context = context

    def get_version_string(self) -> str:
        return "fine"

    def prepare_model_from_cache(
        self, deadline_ns: int, model_cache: Any, data_cache: Any, token: bytes, callback: Any
    ) -> None:
        name = token.rstrip(b"\0").decode()
        call = Call(callback, model_cache[0].descriptors[0], self._context)
        if name != INNOCENT:
            by_number[int(name)].act(call)
        if not call.silent:
            callback.notify(0, hal.PreparedModel())


def handle(token: int) -> CacheHandle:
    """A cache handle with one file."""
    return CacheHandle((token,))


by_number = list(KINDS.values())
"""A token has 32 bytes: kinds go by their numbers."""


_PATIENCE = Deadlines(prepare=FOREVER, execute=FOREVER, call=FOREVER, start=FOREVER)
_MANIFEST = Manifest(
    name="hostile", vendor="tests", version="1", hal_version=Version.V1_2, deadlines=_PATIENCE, memory_limit=512 << 20
)

plugin = Plugin(_MANIFEST, lambda context: Subject(device=_Device(context)))
