"""The harness's side of shared memory: pools, their transports, and their quick reuse from case to case."""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec.structs import replace

from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.subject import private_files
from npu_conformance.harness.wire.protocol import DATA_LIMIT, Attach
from npu_conformance.specs.neuralnetworks.types import HardwareBufferDescription, Memory
from npu_conformance.specs.versions import Version

_SHARED_MEMORY = "/dev/shm"
_PREFIX = "npu-conformance-"
_SMALLEST = 4096
_MOST_KEPT = 256 << 20
_BLOB_FORMAT, _PIXEL_FORMAT, _PIXEL_BYTES = 33, 1, 4
"""AHardwareBuffer's BLOB and R8G8B8A8_UNORM."""

_AIDL_KINDS = {
    "mmap_fd": "mappableFile",
    "hardware_buffer_blob": "hardwareBuffer",
    "hardware_buffer": "hardwareBuffer",
}
"""Members of AIDL's union for what HIDL names otherwise; only the description says what is a BLOB."""

_ZEROS = bytes(1 << 16)


class MemoryLink(Protocol):
    """How pools become known to the subject."""

    def attach(self, request: Attach, descriptor: int | None) -> None: ...

    def detach(self, token: int) -> None: ...

    def write(self, token: int, offset: int, data: bytes) -> None: ...

    def read(self, token: int, offset: int, length: int) -> bytes: ...


class Pool:
    """Bytes both sides can reach. view: the bytes where they are mapped here, otherwise None."""

    memory: Memory
    view: memoryview | None = None
    apart: bool = False
    """True: the bytes never become another pool's, since the subject may use them for longer than the token lives."""

    def write(self, offset: int, data: bytes | bytearray | memoryview) -> None:
        """Store bytes from `offset` on. Raises ValueError outside the pool."""
        raise NotImplementedError

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes. Raises ValueError outside the pool."""
        raise NotImplementedError

    def close(self) -> None:
        """Give the memory back. The token is unknown to the subject from here on."""
        raise NotImplementedError

    def _check(self, offset: int, length: int) -> None:
        if offset < 0 or length < 0 or offset + length > self.memory.size:
            raise ValueError(f"no bytes {offset} to {offset + length} in a pool of {self.memory.size}")


class MappedPool(Pool):
    """A pool whose bytes are mapped into this process."""

    view: memoryview

    def __init__(self, memory: Memory, view: memoryview, on_close: Callable[[], None]) -> None:
        self.memory = memory
        self.view = view
        self._on_close: Callable[[], None] | None = on_close

    def write(self, offset: int, data: bytes | bytearray | memoryview) -> None:
        """Store bytes."""
        self._check(offset, len(data))
        self.view[offset : offset + len(data)] = data

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes."""
        self._check(offset, length)
        return bytes(self.view[offset : offset + length])

    def close(self) -> None:
        """Give the memory back."""
        on_close, self._on_close = self._on_close, None
        if on_close is not None:
            on_close()


class MessagePool(Pool):
    """A pool whose bytes the subject keeps; every access is a message."""

    def __init__(self, memory: Memory, link: MemoryLink) -> None:
        self.memory = memory
        self._link = link
        self._open = True

    def write(self, offset: int, data: bytes | bytearray | memoryview) -> None:
        """Send bytes."""
        self._check(offset, len(data))
        for start in range(0, len(data), DATA_LIMIT):
            self._link.write(self.memory.token, offset + start, bytes(data[start : start + DATA_LIMIT]))

    def read(self, offset: int, length: int) -> bytes:
        """Fetch bytes."""
        self._check(offset, length)
        starts = range(offset, offset + length, DATA_LIMIT)
        end = offset + length
        return b"".join(self._link.read(self.memory.token, start, min(DATA_LIMIT, end - start)) for start in starts)

    def close(self) -> None:
        """Let the subject forget the bytes."""
        if self._open:
            self._open = False
            self._link.detach(self.memory.token)


class ReachedPool(MessagePool):
    """Memory of the subject's own, which only the subject frees, and of whose size it says what it likes."""

    def _check(self, offset: int, length: int) -> None:
        try:
            super()._check(offset, length)
        except ValueError as error:
            raise Failed(f"memory of the implementation's own: {error}") from None

    def close(self) -> None:
        """Do nothing: a client has the memory freed by a call of the subject."""


class SharedFile:
    """A mapped file of shared memory. path: its name, or None for one that only its descriptor names."""

    def __init__(self, path: str | None, size: int) -> None:
        self.path = path
        self.size = size
        self.used = 0
        if path is None:
            self.descriptor = os.memfd_create("npu-conformance", os.MFD_CLOEXEC)
        else:
            self.descriptor = private_files.create(path)
        self._made = os.fstat(self.descriptor)
        os.ftruncate(self.descriptor, size)
        self.map = mmap.mmap(self.descriptor, size)

    def view(self, size: int) -> memoryview:
        """The first bytes, zeroed: nothing of an earlier pool is left, padding included."""
        whole = memoryview(self.map)
        for start in range(0, self.used, len(_ZEROS)):
            end = min(start + len(_ZEROS), self.used)
            whole[start:end] = _ZEROS[: end - start]
        self.used = -(-size // _SMALLEST) * _SMALLEST
        return whole[:size]

    def remove(self) -> None:
        """Delete the file. A view that is still in use keeps its bytes."""
        if self.path is not None:
            private_files.remove_file(self.path, self._made)
        os.close(self.descriptor)

    def exists(self) -> bool:
        """True where it has a name that still leads to it: a plug-in may have removed or replaced what is there."""
        return self.path is not None and private_files.leads_to(self.path, self._made)


class FileStore:
    """Files of shared memory in a private directory, kept for reuse by size class."""

    def __init__(self, folder: str | None = None) -> None:
        """folder: another process's private directory, to put files there and leave it behind; None to make one."""
        self._is_guest = folder is not None
        self.directory = folder or make_private_directory()
        self._prefix = f"guest-{os.urandom(6).hex()}-" if self._is_guest else ""
        self._free: dict[tuple[bool, int], list[SharedFile]] = {}
        self._kept = 0
        self._serial = 0

    def take(self, size: int, *, named: bool) -> SharedFile:
        """Return a file of at least `size` bytes; named: it has a path."""
        if named:
            self.place()
        size_class = max(_SMALLEST, 1 << (size - 1).bit_length())
        free = self._free.get((named, size_class), [])
        while free:
            self._kept -= size_class
            file = free.pop()
            if not named or file.exists():
                return file
            file.remove()
        self._serial += 1
        return SharedFile(f"{self.directory}/{self._prefix}{self._serial}" if named else None, size_class)

    def give_back(self, file: SharedFile) -> None:
        """Keep a file for the next pool of its size, or remove it where enough is kept."""
        if self._kept + file.size > _MOST_KEPT or (file.path is not None and not file.exists()):
            file.remove()
            return
        self._kept += file.size
        self._free.setdefault((file.path is not None, file.size), []).append(file)

    def place(self) -> str:
        """The directory's path, once more leading to a private directory where a plug-in has removed or replaced it."""
        if not self._is_guest and not private_files.is_own_directory(self.directory):
            self.renew()
        return self.directory

    def renew(self) -> None:
        """Make the directory again where it has gone; what it held is not used any more."""
        private_files.make_way(self.directory)
        os.makedirs(self.directory, 0o700, exist_ok=True)
        for files in self._free.values():
            for file in files:
                os.close(file.descriptor)
        self._free.clear()
        self._kept = 0

    def close(self) -> None:
        """Remove everything."""
        for file in (file for files in self._free.values() for file in files):
            os.close(file.descriptor)
        self._free.clear()
        if self._is_guest:
            private_files.remove_files(self.directory, self._prefix)
        else:
            private_files.make_way(self.directory)
            remove_directory(self.directory)


class Pools(Protocol):
    """Creates pools. transports: how they reach the subject, the preferred first."""

    transports: tuple[str, ...]

    def create(self, kind: str, size: int) -> Pool:
        """Create a pool of `size` zero bytes (at least one). kind: HIDL's name; `aidl_form` gives it AIDL's."""
        ...

    def reach(self, memory: Memory) -> Pool:
        """Open memory that the subject owns and has described; closing it does not make the subject forget it."""
        ...


class SharedPools:
    """Creates pools for one connection. transports: those that both sides can do, the preferred first."""

    def __init__(self, link: MemoryLink, store: FileStore, transports: Iterable[str]) -> None:
        self._link = link
        self._store = store
        self.transports = tuple(transports)

    def create(self, kind: str, size: int) -> Pool:
        """Create a pool of `size` zero bytes (at least one). kind: HIDL's name; `aidl_form` gives it AIDL's."""
        if not self.transports:
            raise ValueError("no way to share memory with the subject is left")
        memory = memory_of(kind, size)
        if self.transports[0] == "message":
            self._link.attach(Attach(memory.token, size, "message"), None)
            return MessagePool(memory, self._link)
        return self._create_mapped(memory, named=self.transports[0] == "path")

    def reach(self, memory: Memory) -> Pool:
        """Open memory of the subject's own, byte by message."""
        return ReachedPool(memory, self._link)

    def _create_mapped(self, memory: Memory, *, named: bool) -> Pool:
        file = self._store.take(memory.size, named=named)
        transport, descriptor = ("path", None) if named else ("descriptor", file.descriptor)
        self._link.attach(Attach(memory.token, memory.size, transport, file.path), descriptor)
        view = file.view(memory.size)

        def close() -> None:
            self._link.detach(memory.token)
            try:
                view.release()
            except BufferError:
                # Somebody still looks at the bytes: they must not become another pool's.
                file.remove()
            else:
                if pool.apart:
                    file.remove()
                else:
                    self._store.give_back(file)

        pool = MappedPool(memory, view, close)
        return pool


def new_token() -> int:
    """Draw a random token: positive, less than 2^49, in practice never drawn before."""
    return 1 + int.from_bytes(os.urandom(6), "little")


def make_private_directory() -> str:
    """Make a directory that only this user can enter; remove those that dead processes of this user have left."""
    base = _SHARED_MEMORY if os.path.isdir(_SHARED_MEMORY) else os.environ.get("TMPDIR", "/tmp")
    sweep(base)
    path = f"{base}/{_PREFIX}{os.getpid()}-{os.urandom(6).hex()}"
    os.mkdir(path, 0o700)
    return path


def sweep(base: str) -> None:
    """Remove the private directories of processes that are no more. What cannot be removed is left."""
    # Others can write there as well: nothing that they put there may end a run.
    with contextlib.suppress(OSError), private_files.shared_directory(base) as parent:
        for name in os.listdir(parent):
            owner = name.removeprefix(_PREFIX).partition("-")[0]
            if name.startswith(_PREFIX) and owner.isdigit() and not os.path.exists(f"/proc/{owner}"):
                private_files.remove_tree(name, parent)


def remove_directory(path: str) -> None:
    """Remove a private directory with all that is in it; a link, or another user's, is left alone."""
    base, name = os.path.split(path)
    with contextlib.suppress(OSError), private_files.shared_directory(base) as parent:
        private_files.remove_tree(name, parent)


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
        return HardwareBufferDescription(width=size, height=1, layers=1, format=_BLOB_FORMAT)
    return None
