"""Buffers of the NPU Manager and their allocator (API 37): what the client library of the NDK speaks to the service.

The service owns the memory. A client reaches its bytes by `memory.read` and `memory.write` of what `map` returns.
Numbers of errors are Linux's; a call that fails raises ServiceError with one of them, and an error of another kind
stands for the number that `errno_of` gives it.
"""

from __future__ import annotations

import enum

from npu_conformance.specs.errors import (
    DeadObject,
    IllegalArgument,
    IllegalState,
    InterfaceError,
    SecurityDenied,
    ServiceError,
    Unsupported,
)
from npu_conformance.specs.interfaces import Interface, method, refuse
from npu_conformance.specs.neuralnetworks.types import CacheHandle, Memory
from npu_conformance.specs.wire_types import Wire

UNSET_DEVICE = -1
"""The device number of a request that names none, which is invalid."""
PRIORITY_MIN = 0
PRIORITY_DEFAULT = 500
PRIORITY_MAX = 1000
"""ANPUBUFFER_PRIORITY_*: relative within the app. The header does not say which end is the stronger one."""


class Errno(enum.IntEnum):
    """Errors of the buffer API, numbered as by Linux."""

    ENOENT = 2
    ENOMEM = 12
    EACCES = 13
    EINVAL = 22
    ENOSYS = 38
    EBADMSG = 74
    ECONNRESET = 104
    ECANCELED = 125


class BufferType(enum.IntEnum):
    """ANPUBUFFER_TYPE_*: what a buffer is for. UNKNOWN is invalid in a request."""

    UNKNOWN = 0
    MODEL_EXECUTABLE = 1
    MODEL_WEIGHTS = 2
    CACHE = 3
    AUXILIARY = 4


class BufferState(enum.Enum):
    """From ALLOCATING to ALLOCATED, to LOADING and back, and from each to PREEMPTED. FREED: nothing is left."""

    ALLOCATING = enum.auto()
    ALLOCATED = enum.auto()
    LOADING = enum.auto()
    PREEMPTED = enum.auto()
    FREED = enum.auto()


class Protection(enum.IntFlag):
    """PROT_* of mmap(2)."""

    NONE = 0
    READ = 1
    WRITE = 2
    EXEC = 4


class FileSegment(Wire, frozen=True):
    """Bytes of a file and where in the buffer they go, from the beginning of each; offsets and length in bytes.

    file: one open descriptor, as with cache files. The service closes its own; it never moves the file's position.
    """

    file: CacheHandle
    file_offset: int
    length: int
    buffer_offset: int


class AllocRequest(Wire, frozen=True, omit_defaults=True):
    """What is wanted, with the defaults of NPU-BUF-001; what stands at its default is not on the wire.

    id: the client's, unique while the buffer or its allocation lives; negative ones may be refused with EINVAL. size:
    in bytes. protection: all that `map` may ever ask for.
    """

    id: int
    device_number: int = UNSET_DEVICE
    buffer_type: int = BufferType.UNKNOWN
    size: int = 0
    priority: int = PRIORITY_DEFAULT
    file_segment: FileSegment | None = None
    protection: int = Protection.READ


class NpuBuffer(Interface):
    """An allocated buffer, like the descriptor of one: it can be mapped, and knows whether it is mapped."""

    @method()
    def map(self, length: int, protection: int, offset: int) -> Memory:
        """Make a range of bytes reachable under a new token.

        EACCES (or another): protection outside the request's (NPU-BUF-006). ENOMEM, or ENOENT: preempted
        (NPU-BUF-009). ENOMEM: a file is being loaded. EINVAL: no such range.
        """
        raise refuse("NpuBuffer.map")

    @method()
    def unmap(self, token: int) -> None:
        """End a mapping: its token is unknown from here on. EINVAL, or success as by munmap: it names none of them."""
        raise refuse("NpuBuffer.unmap")


class AllocatorCallback(Interface):
    """The client's side. An errno of 0 is success; message explains, or is None."""

    @method(oneway=True)
    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        """The one answer to a request, its file loaded; buffer is None where errno is not 0 (NPU-BUF-003)."""
        raise refuse("AllocatorCallback.onGetBuffer")

    @method(oneway=True)
    def on_load(self, id: int, errno: int, message: str | None) -> None:
        """The answer to loadFileSegmentToBuffer."""
        raise refuse("AllocatorCallback.onLoad")

    @method(oneway=True)
    def on_notify_preempted(self, id: int) -> None:
        """The memory is gone. At most once a buffer, never while it is mapped, after a pending answer (NPU-BUF-010)."""
        raise refuse("AllocatorCallback.onNotifyPreempted")


class Allocator(Interface):
    """The buffers of one client. Its death frees them all."""

    @method()
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        """Ask for buffers; each request is answered by a callback, what is wrong with it included (NPU-BUF-002)."""
        raise refuse("Allocator.getBuffers")

    @method()
    def is_supported(self, requests: tuple[AllocRequest, ...]) -> tuple[bool, ...]:
        """Say of each request whether it can ever be satisfied; its id is ignored (NPU-BUF-008)."""
        raise refuse("Allocator.isSupported")

    @method()
    def put_buffers(self, ids: tuple[int, ...]) -> None:
        """Free buffers, preempted ones too. EINVAL: some are unknown; the others are freed (NPU-BUF-013)."""
        raise refuse("Allocator.putBuffers")

    @method()
    def set_priority(self, id: int, priority: int) -> None:
        """Change a buffer's priority. EINVAL: unknown buffer, or outside 0 to 1000 (NPU-BUF-014)."""
        raise refuse("Allocator.setPriority")

    @method()
    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        """Copy a file's bytes into a buffer; answered by a callback, with EINVAL unless idle (NPU-BUF-011, -012)."""
        raise refuse("Allocator.loadFileSegmentToBuffer")


_ERRNO_OF: dict[type[InterfaceError], Errno] = {
    SecurityDenied: Errno.EACCES,
    IllegalArgument: Errno.EINVAL,
    IllegalState: Errno.EINVAL,
    Unsupported: Errno.ENOSYS,
    DeadObject: Errno.ECONNRESET,
}


def errno_of(error: InterfaceError) -> int:
    """The errno that a C client sees for an error of a call; a service's own number as it is given."""
    return error.status if isinstance(error, ServiceError) else _ERRNO_OF.get(type(error), Errno.EINVAL)
