"""The host's side of shared memory: what was attached, by token, however it travelled."""

from __future__ import annotations

import mmap
import os
import threading

from npu_conformance.harness.wire import margin
from npu_conformance.harness.wire.margin import with_margin
from npu_conformance.harness.wire.paths import NOWHERE, Paths
from npu_conformance.harness.wire.protocol import (
    DATA_LIMIT,
    Attach,
    Detach,
    MemoryRead,
    MemoryUnreachableError,
    MemoryWrite,
)
from npu_conformance.harness.wire.sealed import sealed_file
from npu_conformance.specs.errors import IllegalArgument, SecurityDenied, ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import Memory

_READ, _WRITE = 1, 2


class HostMemory:
    """Attached memory of one host process, shared by all its connections (tokens are drawn at random).

    Beside it there is what the plug-in exports: clients may only read and write that.
    """

    def __init__(self) -> None:
        self._buffers: dict[int, memoryview] = {}
        self._files: dict[int, int] = {}
        self._exports: dict[int, tuple[memoryview, int]] = {}
        self._lock = threading.Lock()

    def map(self, memory: Memory) -> memoryview:
        """Return the pool's bytes. Raises ServiceError(INVALID_ARGUMENT) for an unknown token or too large a size."""
        buffer = self._buffers.get(memory.token)
        if buffer is None:
            raise _unknown(memory)
        end = memory.offset + memory.size
        if memory.offset < 0 or memory.size < 0 or end > len(buffer):
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, f"memory of {len(buffer)} bytes has no bytes to {end}")
        view = buffer[memory.offset : end]
        return view if memory.prot & _WRITE else view.toreadonly()

    def descriptor(self, memory: Memory) -> int:
        """Return a new descriptor of the file that the pool lies in. Raises ServiceError(INVALID_ARGUMENT) as map."""
        with self._lock:
            if memory.token not in self._files:
                raise _unknown(memory)
            return os.dup(self._files[memory.token])

    def attach(self, request: Attach, descriptor: int | None, paths: Paths = NOWHERE) -> None:
        """Make memory known. Raises MemoryUnreachableError where the transport does not reach it, IllegalArgument.

        descriptor: is taken, and closed where that is refused. paths: the files that the other end may name.
        """
        if request.token <= 0 or request.size <= 0:
            if descriptor is not None:
                os.close(descriptor)
            raise IllegalArgument("token and size must be positive")
        file = self._open(request, descriptor, paths)
        try:
            buffer = _map(file, request.size)
            with self._lock:
                if request.token in self._buffers:
                    raise IllegalArgument(f"token {request.token} is taken")
                self._buffers[request.token], self._files[request.token] = buffer, file
        except BaseException:
            os.close(file)
            raise

    def detach(self, request: Detach) -> None:
        """Forget a token. A device that still uses the bytes keeps them mapped."""
        with self._lock:
            self._buffers.pop(request.token, None)
            file = self._files.pop(request.token, None)
        if file is not None:
            os.close(file)

    def take_overrun(self, token: int) -> bool:
        """See margin.take_overrun; for memory whose file was made here."""
        return margin.take_overrun(self._files[token], len(self._buffers[token]))

    def export(self, data: memoryview, protection: int) -> int:
        """Let clients reach bytes of the plug-in's under a new token. See specs.plugin.Exports."""
        token = 1 + int.from_bytes(os.urandom(6), "little")
        self._exports[token] = data, protection
        return token

    def withdraw(self, token: int) -> None:
        """Forget an exported token."""
        self._exports.pop(token, None)

    def write(self, request: MemoryWrite) -> None:
        """Store bytes. Raises SecurityDenied where they were exported without PROT_WRITE."""
        buffer = self._range(request.token, request.offset, len(request.data), _WRITE)
        buffer[request.offset : request.offset + len(request.data)] = request.data

    def read(self, request: MemoryRead) -> bytes:
        """Return bytes. Raises SecurityDenied where they were exported without PROT_READ."""
        buffer = self._range(request.token, request.offset, request.length, _READ)
        return bytes(buffer[request.offset : request.offset + request.length])

    def _range(self, token: int, offset: int, length: int, access: int) -> memoryview:
        exported, protection = self._exports.get(token, (None, access))
        buffer = self._buffers.get(token, exported)
        if buffer is None:
            raise IllegalArgument(f"memory token {token} is not known")
        if not protection & access:
            raise SecurityDenied(f"memory {token} is mapped with protection {protection}")
        if not 0 <= length <= DATA_LIMIT or offset < 0 or offset + length > len(buffer):
            raise IllegalArgument(f"no bytes {offset} to {offset + length} in memory of {len(buffer)} bytes")
        return buffer

    def _open(self, request: Attach, descriptor: int | None, paths: Paths) -> int:
        if request.transport == "message":
            return _allocate(request.size)
        if request.transport == "descriptor" and descriptor is not None:
            return descriptor
        if request.transport == "path" and request.path is not None:
            return paths.open(request.path, os.O_RDWR)
        raise MemoryUnreachableError(f"transport {request.transport!r} is not available here")


def _unknown(memory: Memory) -> ServiceError:
    return ServiceError(ErrorStatus.INVALID_ARGUMENT, f"memory token {memory.token} is not known")


def _allocate(size: int) -> int:
    """A file in memory. Its bytes are shared, so that a plug-in can hand its descriptor to somebody else."""
    try:
        return sealed_file(with_margin(size))
    except (OSError, OverflowError) as error:
        raise MemoryUnreachableError(f"cannot allocate {size} bytes: {error}") from None


def _map(file: int, size: int) -> memoryview:
    """The bytes. The margin behind them is mapped, too, where the file has one: see margin."""
    try:
        whole = with_margin(size)
        return memoryview(mmap.mmap(file, whole if os.fstat(file).st_size >= whole else size))[:size]
    except (OSError, ValueError, OverflowError) as error:
        raise MemoryUnreachableError(f"cannot map {size} bytes: {error}") from None
