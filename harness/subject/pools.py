"""The harness's side of shared memory: pools, and their transports."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from npu_conformance.harness.judge.verdicts import Failed, breach
from npu_conformance.harness.subject.memory_kinds import memory_of
from npu_conformance.harness.subject.queue_file import QueueFile
from npu_conformance.harness.subject.shared_files import FileStore, SharedFile, shortage
from npu_conformance.harness.wire.protocol import DATA_LIMIT, Attach
from npu_conformance.specs.neuralnetworks.types import Memory

if TYPE_CHECKING:
    # Whoever has no bursts does not need ctypes.
    from npu_conformance.specs.neuralnetworks.message_queue import QueueMemory

OnClose = Callable[[bool], None]
"""Gives memory back. It is told whether the pool lies apart: one that held its pool would be in a circle with it."""


class MemoryLink(Protocol):
    """How pools become known to the subject."""

    def attach(self, request: Attach, descriptor: int | None) -> None: ...

    def detach(self, token: int) -> None: ...

    def write(self, token: int, offset: int, data: bytes) -> None: ...

    def read(self, token: int, offset: int, length: int) -> bytes: ...


class Pool:
    """Bytes both sides can reach."""

    memory: Memory
    is_shared: bool = False
    """True where both sides see the same bytes at the same time."""
    apart: bool = False
    """True: the bytes never become another pool's, since the subject may use them for longer than the token lives."""

    def write(self, offset: int, data: bytes | bytearray | memoryview) -> None:
        """Store bytes from `offset` on. Raises ValueError outside the pool."""
        raise NotImplementedError

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes. Raises ValueError outside the pool."""
        raise NotImplementedError

    def take_overrun(self) -> bool:
        """True where the subject has written past the end of the pool since the last look, as far as that shows.

        See margin. Of a pool that was closed: by then.
        """
        return False

    def queue_memory(self) -> QueueMemory | memoryview:
        """The bytes as the memory of a message queue, where they are shared."""
        raise NotImplementedError

    def close(self) -> None:
        """Give the memory back. The token is unknown to the subject from here on."""
        raise NotImplementedError

    def _check(self, offset: int, length: int) -> None:
        if offset < 0 or length < 0 or offset + length > self.memory.size:
            raise ValueError(f"no bytes {offset} to {offset + length} in a pool of {self.memory.size}")


class _SharedPool(Pool):
    """A pool with a margin. on_close: gets `apart`. look: takes an overrun behind so many bytes."""

    is_shared = True

    def __init__(self, memory: Memory, on_close: OnClose, look: Callable[[int], bool]) -> None:
        self.memory = memory
        self.is_open = True
        self._on_close, self._look = on_close, look
        self._was_overrun = False

    def take_overrun(self) -> bool:
        """See Pool."""
        if self.is_open:
            return self._look(self.memory.size)
        found, self._was_overrun = self._was_overrun, False
        return found

    def close(self) -> None:
        """Give the memory back, after a last look behind it."""
        if self.is_open:
            self._was_overrun = self._look(self.memory.size)
            self.is_open = False
            self._on_close(self.apart)


class MappedPool(_SharedPool):
    """A pool whose bytes are mapped into this process, from what nobody can truncate."""

    def __init__(self, memory: Memory, view: memoryview, on_close: OnClose, look: Callable[[int], bool]) -> None:
        super().__init__(memory, on_close, look)
        self._view = view

    def write(self, offset: int, data: bytes | bytearray | memoryview) -> None:
        """Store bytes."""
        self._check(offset, len(data))
        self._view[offset : offset + len(data)] = data

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes."""
        self._check(offset, length)
        return bytes(self._view[offset : offset + length])

    def queue_memory(self) -> memoryview:
        """The mapped bytes."""
        return self._view


class FilePool(_SharedPool):
    """A pool in a file that has a name: it is never mapped here, since whoever can open it can also truncate it."""

    def __init__(self, memory: Memory, file: SharedFile, on_close: OnClose) -> None:
        super().__init__(memory, on_close, file.take_overrun)
        self._file = file

    def write(self, offset: int, data: bytes | bytearray | memoryview) -> None:
        """Store bytes. Raises NoSharedMemory where the subject has given up their space, and there is none."""
        self._check(offset, len(data))
        file = self._open_file()
        try:
            file.write(offset, data)
        except OSError as error:
            raise shortage(len(data), error, file.descriptor) from None

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes. Raises Failed where the subject has truncated the file."""
        self._check(offset, length)
        return self._open_file().read(offset, length)

    def queue_memory(self) -> QueueMemory:
        """The bytes, each access of them a system call."""
        return QueueFile(self.memory.size, self._open_file(), self.read, self.write)

    def _open_file(self) -> SharedFile:
        if not self.is_open:
            raise ValueError("the pool is closed")
        return self._file


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
            raise breach("memory cannot be shared: of the transports it was offered, it takes none of any use")
        memory = memory_of(kind, size)
        if self.transports[0] == "message":
            self._link.attach(Attach(memory.token, size, "message"), None)
            return MessagePool(memory, self._link)
        return self._create_shared(memory, named=self.transports[0] == "path")

    def reach(self, memory: Memory) -> Pool:
        """Open memory of the subject's own, byte by message."""
        return ReachedPool(memory, self._link)

    def _create_shared(self, memory: Memory, *, named: bool) -> Pool:
        file = self._store.take(memory.size, named=named)
        transport, descriptor = ("path", None) if named else ("descriptor", file.descriptor)
        try:
            self._link.attach(Attach(memory.token, memory.size, transport, file.path), descriptor)
        except BaseException:
            self._store.give_back(file)
            raise
        return self._in_file(memory, file) if file.map is None else self._mapped(memory, file, file.map)

    def _in_file(self, memory: Memory, file: SharedFile) -> Pool:
        def close(apart: bool) -> None:
            self._link.detach(memory.token)
            self._dispose(file, is_in_use=apart)

        return FilePool(memory, file, close)

    def _mapped(self, memory: Memory, file: SharedFile, mapping: mmap.mmap) -> Pool:
        view = memoryview(mapping)[: memory.size]

        def close(apart: bool) -> None:
            self._link.detach(memory.token)
            try:
                view.release()
            except BufferError:
                # Somebody still looks at the bytes: they must not become another pool's.
                self._dispose(file, is_in_use=True)
            else:
                self._dispose(file, is_in_use=apart)

        return MappedPool(memory, view, close, file.take_overrun)

    def _dispose(self, file: SharedFile, *, is_in_use: bool) -> None:
        if is_in_use:
            file.remove()
        else:
            self._store.give_back(file)
