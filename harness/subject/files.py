"""The harness's side of cache files: real files in the private directory, and how they reach the subject.

Who may do what is the access mode of each opening, as with descriptors: permissions of the file are no help, since
root ignores them.
"""

from __future__ import annotations

import fcntl
import itertools
import os
from collections.abc import Callable, Iterable
from typing import Any, Literal, Protocol, TypeVar

from npu_conformance.harness.judge.verdicts import Failed, NoSharedMemory, NotApplicable
from npu_conformance.harness.subject import private_files
from npu_conformance.harness.subject.memory_kinds import new_token
from npu_conformance.harness.subject.shared_files import shortage
from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.files import ACCESS_FLAGS
from npu_conformance.specs.descriptor_file import write_at
from npu_conformance.specs.errors import IllegalArgument, IllegalState, SecurityDenied, Unsupported

Access = Literal["read", "write", "read_write"]
Watch = Callable[[str, int, int], None]
"""Called after each read and write that a driver does by message: `read` or `write`, offset, length in bytes."""

Result = TypeVar("Result")

_serial = itertools.count(1)
_LARGEST = 1 << 30
"""Bytes of a cache file."""
_MOST_OPEN = 512
"""Open files of one connection by message: each is a descriptor of this process."""


class CacheFile:
    """A file of the client's, opened for reading and writing here. watch: sees the accesses that come by message."""

    def __init__(self, directory: str, content: bytes = b"") -> None:
        self.path = f"{directory}/cache-{os.getpid()}-{next(_serial)}"
        self.watch: Watch | None = None
        try:
            self.descriptor = private_files.create(self.path)
        except OSError as error:
            raise shortage(len(content), error, os.path.dirname(directory)) from None
        self._made = os.fstat(self.descriptor)
        try:
            self.write(content)
        except NoSharedMemory:
            self.close()
            raise

    def read(self) -> bytes:
        """The whole content. Raises Failed where the subject has made it longer than any cache file."""
        size = os.fstat(self.descriptor).st_size
        if size > _LARGEST:
            raise Failed(f"a cache file: expected at most {_LARGEST} bytes, found {size}")
        return os.pread(self.descriptor, size, 0)

    def write(self, content: bytes) -> None:
        """Replace the whole content. Raises NoSharedMemory where there is no space for it."""
        os.ftruncate(self.descriptor, 0)
        try:
            write_at(self.descriptor, 0, content)
        except OSError as error:
            raise shortage(len(content), error, self.descriptor) from None

    def stretch(self, size: int) -> None:
        """Make the file this long, with zeros that take no space."""
        os.ftruncate(self.descriptor, size)

    def stop_growing(self) -> None:
        """Let no byte be added, as on a full disk. The file loses its path: it goes by descriptor or by message."""
        sealed = os.memfd_create("npu-conformance-cache", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        fcntl.fcntl(sealed, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW)
        os.dup2(sealed, self.descriptor, inheritable=False)
        os.close(sealed)

    def reopened(self, access: Access, offset: int) -> int:
        """A descriptor with an access mode and an offset of its own; the caller's to close."""
        descriptor = os.open(f"/proc/self/fd/{self.descriptor}", ACCESS_FLAGS[access] | os.O_CLOEXEC)
        os.lseek(descriptor, offset, os.SEEK_SET)
        return descriptor

    def close(self) -> None:
        """Delete the file."""
        private_files.remove_file(self.path, self._made)
        os.close(self.descriptor)


class FileAttacher(Protocol):
    """How open files become known to the subject. served: the files that are kept here."""

    served: ServedFiles

    def attach(self, request: protocol.FileAttach, descriptor: int | None) -> None: ...

    def detach(self, token: int) -> None: ...


class Files:
    """Hands files over on one connection. transports: those that both sides can do, the preferred first."""

    def __init__(self, link: FileAttacher, directory: Callable[[], str], transports: Iterable[str]) -> None:
        self._link = link
        self._directory = directory
        self.transports = tuple(transports)

    def create(self, content: bytes = b"") -> CacheFile:
        """Make a file."""
        return CacheFile(self._directory(), content)

    def open(self, file: CacheFile, access: Access = "read_write", offset: int = 0, *, transport: str = "") -> int:
        """Return the token of a new descriptor of the file.

        transport: instead of the preferred one. NotApplicable where the subject takes no files that way.
        """
        for name in (transport,) if transport else self.transports:
            token = new_token()
            try:
                self._attach(file, protocol.FileAttach(token, name, access, offset))
            except (protocol.MemoryUnreachableError, Unsupported):
                continue
            return token
        raise NotApplicable(f"the subject takes no files by {transport or ' or '.join(self.transports) or 'any way'}")

    def lend(self, descriptor: int, access: Access) -> int:
        """Return the token of this very descriptor, whose position the subject then shares; it stays the caller's.

        NotApplicable where the subject takes no descriptors.
        """
        if "descriptor" not in self.transports:
            raise NotApplicable("the subject takes no files by descriptor")
        token = new_token()
        self._link.attach(protocol.FileAttach(token, "descriptor", access), descriptor)
        return token

    def close(self, token: int) -> None:
        """Close the descriptor, as a client does after a preparation."""
        self._link.detach(token)

    def _attach(self, file: CacheFile, request: protocol.FileAttach) -> None:
        if request.transport == "path":
            named = protocol.FileAttach(request.token, "path", request.access, request.offset, file.path)
            self._link.attach(named, None)
            return
        descriptor = file.reopened(request.access, request.offset)  # type: ignore[arg-type]
        if request.transport == "message":
            self._link.served.add(request.token, file, descriptor)
            try:
                self._link.attach(request, None)
            except BaseException:
                self._link.served.close(request.token)
                raise
            return
        try:
            self._link.attach(request, descriptor)
        finally:
            os.close(descriptor)


class ServedFiles:
    """Files that a driver reaches by message: each request is done on a descriptor, whose kernel says what is allowed.

    Raises SecurityDenied where the access mode forbids it, IllegalArgument for an unknown token or an impossible range,
    IllegalState where too many are open.
    """

    def __init__(self) -> None:
        self._open: dict[int, tuple[CacheFile, int]] = {}

    def builtins(self) -> dict[str, Any]:
        """The methods of the wire, with their params."""
        return {
            "file.size": (protocol.FileToken, lambda params: self.size(params.token)),
            "file.read": (protocol.FileRead, lambda params: self.read(params.token, params.offset, params.length)),
            "file.write": (protocol.FileWrite, lambda params: self.write(params.token, params.offset, params.data)),
            "file.truncate": (protocol.FileTruncate, lambda params: self.truncate(params.token, params.size)),
            "file.duplicate": (protocol.FileToken, lambda params: self.duplicate(params.token)),
            "file.close": (protocol.FileToken, lambda params: self.close(params.token)),
        }

    def add(self, token: int, file: CacheFile, descriptor: int) -> None:
        """Serve an open file. The descriptor is ours from here on."""
        self._open[token] = file, descriptor

    def size(self, token: int) -> int:
        """Bytes of the file."""
        return os.fstat(self._find(token)[1]).st_size

    def read(self, token: int, offset: int, length: int) -> bytes:
        """Bytes from `offset` on; less at the end of the file."""
        file, descriptor = self._find(token)
        _check_range(offset, length)
        data = _allowed(lambda: os.pread(descriptor, length, offset))
        if file.watch is not None:
            file.watch("read", offset, len(data))
        return data

    def write(self, token: int, offset: int, data: bytes) -> None:
        """Store bytes."""
        file, descriptor = self._find(token)
        _check_range(offset, len(data))
        _allowed(lambda: write_at(descriptor, offset, data))
        if file.watch is not None:
            file.watch("write", offset, len(data))

    def truncate(self, token: int, size: int) -> None:
        """Set the size."""
        _check_range(size, 0)
        _allowed(lambda: os.ftruncate(self._find(token)[1], size))

    def duplicate(self, token: int) -> int:
        """A further token for the same open file, which the driver has to close."""
        file, descriptor = self._find(token)
        if len(self._open) >= _MOST_OPEN:
            raise IllegalState(f"{_MOST_OPEN} files are open: close some first")
        duplicate = new_token()
        self.add(duplicate, file, os.dup(descriptor))
        return duplicate

    def close(self, token: int) -> None:
        """Forget a token; an unknown one is ignored."""
        _, descriptor = self._open.pop(token, (None, -1))
        if descriptor >= 0:
            os.close(descriptor)

    def close_all(self) -> None:
        """Close all files: the connection is gone."""
        for token in list(self._open):
            self.close(token)

    def _find(self, token: int) -> tuple[CacheFile, int]:
        if token not in self._open:
            raise IllegalArgument(f"no open file has the token {token}")
        return self._open[token]


def _check_range(offset: int, length: int) -> None:
    if not (0 <= offset <= _LARGEST and 0 <= length <= protocol.DATA_LIMIT):
        raise IllegalArgument(f"no bytes {offset} to {offset + length} in a cache file")


def _allowed(operation: Callable[[], Result]) -> Result:
    try:
        return operation()
    except OSError as error:
        raise SecurityDenied(f"the descriptor's access mode forbids it: {error.strerror}") from None
