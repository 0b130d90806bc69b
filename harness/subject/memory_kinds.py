"""Memory as a request names it: its token, its kind by version, and the description of hardware buffers."""

from __future__ import annotations

import os

from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks.types import BLOB_FORMAT, HardwareBufferDescription, Memory
from npu_conformance.specs.versions import Version

_PIXEL_FORMAT, _PIXEL_BYTES = 1, 4
"""AHardwareBuffer's R8G8B8A8_UNORM."""

_AIDL_KINDS = {
    "mmap_fd": "mappableFile",
    "hardware_buffer_blob": "hardwareBuffer",
    "hardware_buffer": "hardwareBuffer",
}
"""Members of AIDL's union for what HIDL names otherwise; only the description says what is a BLOB."""


def new_token() -> int:
    """Draw a random token: positive, less than 2^49, in practice never drawn before."""
    return 1 + int.from_bytes(os.urandom(6), "little")


def memory_of(kind: str, size: int) -> Memory:
    """Describe memory of a kind under a new token. kind: HIDL's name."""
    return Memory(kind, size, new_token(), description=_description(kind, size))


def aidl_form(memory: Memory, version: Version) -> Memory:
    """The memory with its kind as the version names it."""
    return replace(memory, kind=_AIDL_KINDS.get(memory.kind, memory.kind)) if version.is_aidl else memory


def _description(kind: str, size: int) -> HardwareBufferDescription | None:
    if kind == "hardware_buffer":
        pixels = -(-size // _PIXEL_BYTES)
        return HardwareBufferDescription(width=pixels, height=1, layers=1, format=_PIXEL_FORMAT, stride=pixels)
    if kind == "hardware_buffer_blob":
        return HardwareBufferDescription(width=size, height=1, layers=1, format=BLOB_FORMAT)
    return None
