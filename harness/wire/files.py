"""The host's side of cache files: what was attached, by token, however it travelled."""

from __future__ import annotations

import os
import threading
from typing import Any, Protocol

from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.paths import NOWHERE, Paths
from npu_conformance.harness.wire.protocol import DATA_LIMIT, FileAttach, FileToken, MemoryUnreachableError
from npu_conformance.specs.descriptor_file import DescriptorFile
from npu_conformance.specs.errors import IllegalArgument, InterfaceError
from npu_conformance.specs.plugin import File

ACCESS_FLAGS = {"read": os.O_RDONLY, "write": os.O_WRONLY, "read_write": os.O_RDWR}
"""Access modes by their names on the wire."""


class FileLink(Protocol):
    """Operations on a file that the harness keeps. Raises InterfaceError where its kernel refuses."""

    def size(self, token: int) -> int: ...

    def read(self, token: int, offset: int, length: int) -> bytes: ...

    def write(self, token: int, offset: int, data: bytes) -> None: ...

    def truncate(self, token: int, size: int) -> None: ...

    def duplicate(self, token: int) -> int: ...

    def close(self, token: int) -> None: ...


class HostFiles:
    """Attached files of one host process, shared by all its connections (tokens are drawn at random)."""

    def __init__(self) -> None:
        self._open: dict[int, int | _Kept] = {}
        self._lock = threading.Lock()

    def open(self, token: int) -> File:
        """Duplicate the descriptor of a token. Raises OSError where it names no open file."""
        with self._lock:
            attached = self._open.get(token)
            if attached is None:
                raise OSError(f"no open file has the token {token}")
            if isinstance(attached, int):
                return DescriptorFile(os.dup(attached))
        return attached.duplicate()

    def attach(self, request: FileAttach, descriptor: int | None, link: FileLink, paths: Paths = NOWHERE) -> None:
        """Make a file known. Raises MemoryUnreachableError where the transport does not reach it, IllegalArgument.

        descriptor: is taken, and closed where that is refused. link: for the transport `message`. paths: the files that
        the other end may name.
        """
        if request.access not in ACCESS_FLAGS or request.token <= 0:
            if descriptor is not None:
                os.close(descriptor)
            raise IllegalArgument(f"no access mode {request.access!r}, or no token {request.token}")
        opened = self._reach(request, descriptor, link, paths)
        with self._lock:
            is_taken = request.token in self._open
            if not is_taken:
                self._open[request.token] = opened
        if is_taken and isinstance(opened, int):
            os.close(opened)
        if is_taken:
            raise IllegalArgument(f"token {request.token} is taken")

    def detach(self, request: FileToken) -> None:
        """The client has closed its descriptor. Those that a driver has duplicated stay open."""
        with self._lock:
            opened = self._open.pop(request.token, None)
        if isinstance(opened, int):
            os.close(opened)

    def _reach(self, request: FileAttach, descriptor: int | None, link: FileLink, paths: Paths) -> int | _Kept:
        if request.transport == "descriptor" and descriptor is not None:
            return descriptor
        if request.transport == "message":
            return _Kept(link, request.token, request.access, request.offset)
        if request.transport == "path" and request.path is not None:
            return _opened(paths, request.path, request.access, request.offset)
        raise MemoryUnreachableError(f"transport {request.transport!r} is not available here")


class _Kept:
    """A file that the harness keeps: every operation is a message. See specs.plugin.File."""

    def __init__(self, link: FileLink, token: int, access: str, position: int) -> None:
        self._link = link
        self._token = token
        self._access = access
        self.position = position

    def duplicate(self) -> _Kept:
        return _Kept(self._link, self._ask("duplicate"), self._access, self.position)

    def is_readable(self) -> bool:
        return self._access != "write"

    def is_writable(self) -> bool:
        return self._access != "read"

    def size(self) -> int:
        found: int = self._ask("size")
        return found

    def read(self, offset: int, length: int) -> bytes:
        found: list[bytes] = []
        while length > 0 and (part := self._ask("read", offset, min(length, DATA_LIMIT))):
            found.append(part)
            offset, length = offset + len(part), length - len(part)
        return b"".join(found)

    def write(self, offset: int, data: bytes) -> None:
        for done in range(0, len(data), DATA_LIMIT):
            self._ask("write", offset + done, data[done : done + DATA_LIMIT])

    def truncate(self, size: int) -> None:
        self._ask("truncate", size)

    def close(self) -> None:
        token, self._token = self._token, 0
        if token:
            self._link.close(token)

    def _ask(self, operation: str, *arguments: Any) -> Any:
        try:
            return getattr(self._link, operation)(self._token, *arguments)
        except InterfaceError as error:
            raise OSError(str(error)) from None


class RemoteFiles:
    """Files that are kept at the other end of a connection."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def size(self, token: int) -> int:
        """Bytes of the file."""
        size: int = self._connection.call("file.size", protocol.FileToken(token), int)
        return size

    def read(self, token: int, offset: int, length: int) -> bytes:
        """Bytes from `offset` on."""
        data: bytes = self._connection.call("file.read", protocol.FileRead(token, offset, length), bytes)
        return data

    def write(self, token: int, offset: int, data: bytes) -> None:
        """Store bytes."""
        self._connection.call("file.write", protocol.FileWrite(token, offset, data), None)

    def truncate(self, token: int, size: int) -> None:
        """Set the size."""
        self._connection.call("file.truncate", protocol.FileTruncate(token, size), None)

    def duplicate(self, token: int) -> int:
        """A further token for the same open file."""
        duplicate: int = self._connection.call("file.duplicate", protocol.FileToken(token), int)
        return duplicate

    def close(self, token: int) -> None:
        """Say that the driver no longer needs the token."""
        if self._connection.broken is None:
            self._connection.notify("file.close", protocol.FileToken(token))


def _opened(paths: Paths, path: str, access: str, offset: int) -> int:
    descriptor = paths.open(path, ACCESS_FLAGS[access])
    try:
        os.lseek(descriptor, offset, os.SEEK_SET)
    except (OSError, OverflowError):
        os.close(descriptor)
        raise IllegalArgument(f"no file has an offset of {offset}") from None
    return descriptor
