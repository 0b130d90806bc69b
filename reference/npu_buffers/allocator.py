"""The allocator of one client, whose worker carries out requests one at a time, in order (NpuAllocator.java).

Memory is taken, and a file read, when a request is made: a request that waits for the worker takes no memory of its
own. The answers come when it is done, in order.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial

from npu_conformance.reference.manager.delivery import Delivery
from npu_conformance.reference.npu_buffers.buffer import Buffer
from npu_conformance.reference.npu_buffers.heaps import Heaps
from npu_conformance.reference.npu_buffers.worker import Worker
from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.errors import DeadObject, ServiceError
from npu_conformance.specs.npu.buffers import (
    PRIORITY_MAX,
    PRIORITY_MIN,
    UNSET_DEVICE,
    Allocator,
    AllocatorCallback,
    AllocRequest,
    BufferState,
    BufferType,
    Errno,
    FileSegment,
)
from npu_conformance.specs.plugin import Caller, Exports, Files

_ALL_PROTECTION = 7


class OwnedBuffer(Buffer):
    """A buffer whose owner is notified of its preemption."""

    def __init__(self, request: AllocRequest, client: Client) -> None:
        super().__init__(request, client.heaps, client.exports)
        self._client = weakref.ref(client)

    def preempted(self, interrupted: BufferState) -> None:
        """Notify the client: first of the end of a request under way, then of the loss (NPU-BUF-010)."""
        client = self._client()
        if client is not None:
            client.preempted(self, interrupted)


class Client:
    """The buffers of one client, by id, and its worker."""

    def __init__(
        self,
        caller: Caller,
        delivery: Delivery,
        heaps: Heaps,
        exports: Exports,
        files: Files,
        callback: AllocatorCallback,
    ) -> None:
        self.caller = caller
        self.heaps = heaps
        self.exports = exports
        self._delivery = delivery
        self._files = files
        self._callback = callback
        self._worker = Worker(delivery, heaps.lock)
        self.buffers: dict[int, OwnedBuffer] = {}
        self._is_closed = False

    def get(self, request: AllocRequest) -> None:
        """Take a request; each is answered once, in turn. A file is read without the lock: its client may be slow."""
        try:
            self._check(request)
            content = self._content(request.file_segment, request.size)
            with self.heaps.lock:
                self._enter(request, content)
        except ServiceError as error:
            with self.heaps.lock:
                self._worker.add(partial(self._answer, request.id, None, error), 0)

    def can_ever_have(self, request: AllocRequest) -> bool:
        """True where a request could be satisfied if no other buffer lived; nothing is read (NPU-BUF-008)."""
        try:
            self._check(request)
        except ServiceError:
            return False
        return True

    def put(self, ids: tuple[int, ...]) -> None:
        """Free buffers. Raises EINVAL where some are unknown; the others are freed all the same."""
        with self.heaps.lock:
            unknown = [identifier for identifier in ids if not self._free(identifier)]
        if unknown:
            raise ServiceError(Errno.EINVAL, f"no buffers {', '.join(map(str, unknown))}")

    def set_priority(self, identifier: int, priority: int) -> None:
        """Change a priority. Raises EINVAL for an unknown buffer or priority."""
        with self.heaps.lock:
            _check_priority(priority)
            self._known(identifier).priority = priority

    def load(self, identifier: int, segment: FileSegment) -> None:
        """Load a file's bytes into an idle buffer."""
        buffer = None
        try:
            with self.heaps.lock:
                buffer = self._idle(identifier)
                buffer.state = BufferState.LOADING
            content = self._content(segment, buffer.size)
        except ServiceError as error:
            with self.heaps.lock:
                if buffer is not None:
                    if buffer.state is not BufferState.LOADING:
                        return  # it was preempted meanwhile, which has answered the call
                    buffer.state = BufferState.ALLOCATED
                self._worker.add(partial(self._answer_load, identifier, error), 0)
            return
        with self.heaps.lock:
            if buffer.state is BufferState.LOADING:
                buffer.store(segment, content)
                self._worker.add(partial(self._loaded, buffer), segment.length)

    def preempted(self, buffer: OwnedBuffer, interrupted: BufferState) -> None:
        """Note that a heap took a buffer's memory."""
        identifier = buffer.request.id
        cancelled = ServiceError(Errno.ECANCELED, "preempted")
        if interrupted is BufferState.ALLOCATING:
            del self.buffers[identifier]
            self._answer(identifier, None, cancelled)
        elif interrupted is BufferState.LOADING:
            self._answer_load(identifier, cancelled)
        self._tell(lambda: self._callback.on_notify_preempted(identifier))

    def close(self) -> None:
        """Free all buffers of the client, which is gone; nothing more is delivered to it."""
        with self.heaps.lock:
            self._is_closed = True
            self._worker.clear()
            for buffer in self.buffers.values():
                buffer.free()
            self.buffers.clear()

    def _enter(self, request: AllocRequest, content: bytes) -> None:
        if self._is_closed:
            raise ServiceError(Errno.ECONNRESET, "the client is dead")
        if request.id in self.buffers:
            raise ServiceError(Errno.EINVAL, f"buffer {request.id} lives already")
        buffer = OwnedBuffer(request, self)
        if not buffer.reserve():
            raise ServiceError(Errno.ENOMEM, f"no room for {request.size} bytes")
        if request.file_segment is not None:
            buffer.store(request.file_segment, content)
        self.buffers[request.id] = buffer
        self._worker.add(partial(self._allocated, buffer), request.size)

    def _idle(self, identifier: int) -> OwnedBuffer:
        buffer = self._known(identifier)
        if buffer.state is not BufferState.ALLOCATED:
            raise ServiceError(Errno.EINVAL, f"buffer {identifier} is {buffer.state.name}")
        return buffer

    def _check(self, request: AllocRequest) -> None:
        if request.device_number <= UNSET_DEVICE or request.buffer_type not in tuple(BufferType)[1:]:
            raise ServiceError(Errno.EINVAL, f"device {request.device_number}, buffer type {request.buffer_type}")
        if request.size <= 0 or request.protection & ~_ALL_PROTECTION:
            raise ServiceError(Errno.EINVAL, f"size {request.size}, protection {request.protection}")
        _check_priority(request.priority)
        heap = self.heaps.of(request)
        if heap is None:
            raise ServiceError(Errno.ENOSYS, f"device {request.device_number} has no heap for {request.buffer_type}")
        if request.size > heap.capacity:
            raise ServiceError(Errno.ENOMEM, f"{request.size} bytes are more than the {heap.capacity} that there are")

    def _content(self, segment: FileSegment | None, size: int) -> bytes:
        """Read a file's bytes while the client waits: it may be the one that serves them."""
        if segment is None:
            return b""
        if min(segment.length, segment.file_offset, segment.buffer_offset) < 0:
            raise ServiceError(Errno.EINVAL, f"a file segment with negative numbers: {segment}")
        if segment.buffer_offset + segment.length > size or len(segment.file.descriptors) != 1:
            raise ServiceError(Errno.EINVAL, f"{segment.length} bytes at {segment.buffer_offset} of {size}")
        return self._read(segment)

    def _read(self, segment: FileSegment) -> bytes:
        try:
            file = self._files.open(segment.file.descriptors[0])
            try:
                content = file.read(segment.file_offset, segment.length)
            finally:
                file.close()
        except OSError as error:
            raise ServiceError(Errno.EINVAL, str(error)) from None
        if len(content) != segment.length:
            raise ServiceError(Errno.EINVAL, f"the file has only {len(content)} of {segment.length} bytes")
        return content

    def _allocated(self, buffer: OwnedBuffer) -> None:
        if buffer.state is BufferState.ALLOCATING:
            buffer.state = BufferState.ALLOCATED
            self._answer(buffer.request.id, buffer, None)

    def _loaded(self, buffer: OwnedBuffer) -> None:
        if buffer.state is BufferState.LOADING:
            buffer.state = BufferState.ALLOCATED
            self._answer_load(buffer.request.id, None)

    def _free(self, identifier: int) -> bool:
        buffer = self.buffers.pop(identifier, None)
        if buffer is None:
            return False
        if buffer.state is BufferState.ALLOCATING:
            self._answer(identifier, None, ServiceError(Errno.ECANCELED, "freed"))
        buffer.free()
        return True

    def _known(self, identifier: int) -> OwnedBuffer:
        if identifier not in self.buffers:
            raise ServiceError(Errno.EINVAL, f"no buffer {identifier}")
        return self.buffers[identifier]

    def _answer(self, identifier: int, buffer: Buffer | None, error: ServiceError | None) -> None:
        errno, message = (0, None) if error is None else (error.status, error.message)
        vlog.log("manager", lambda: f"buffer {identifier}: {message or 'allocated'}")
        self._tell(lambda: self._callback.on_get_buffer(identifier, buffer, errno, message))

    def _answer_load(self, identifier: int, error: ServiceError | None) -> None:
        errno, message = (0, None) if error is None else (error.status, error.message)
        self._tell(lambda: self._callback.on_load(identifier, errno, message))

    def _tell(self, send: Callable[[], None]) -> None:
        def deliver() -> None:
            if self._is_closed:
                return
            try:
                send()
            except DeadObject:
                self.close()

        if not self._delivery.post(self, deliver):
            self.close()  # the client accepts no callbacks


class ClientAllocator(Allocator):
    """The object that a client holds. Its release, by the client's death at the latest, frees all buffers."""

    def __init__(self, client: Client) -> None:
        self.client = client
        weakref.finalize(self, client.close).atexit = False

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        """Ask for buffers."""
        for request in requests:
            self.client.get(request)

    def is_supported(self, requests: tuple[AllocRequest, ...]) -> tuple[bool, ...]:
        """True where there is a heap for the device and the type, and the buffer fits once all of it is free."""
        return tuple(map(self.client.can_ever_have, requests))

    def put_buffers(self, ids: tuple[int, ...]) -> None:
        """Free buffers."""
        self.client.put(ids)

    def set_priority(self, id: int, priority: int) -> None:
        """Change a priority."""
        self.client.set_priority(id, priority)

    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        """Load a file's bytes."""
        self.client.load(id, segment)


class Allocators:
    """Makes the allocators of a service."""

    def __init__(self, delivery: Delivery, heaps: Heaps, exports: Exports, files: Files) -> None:
        self._delivery = delivery
        self.heaps = heaps
        self._exports = exports
        self._files = files
        self.clients: weakref.WeakSet[Client] = weakref.WeakSet()

    def create(self, caller: Caller, callback: AllocatorCallback) -> ClientAllocator:
        """Make an allocator for a process."""
        client = Client(caller, self._delivery, self.heaps, self._exports, self._files, callback)
        with self.heaps.lock:
            self.clients.add(client)
        return ClientAllocator(client)

    def drop_client(self, uid: int, pid: int = 0) -> None:
        """Free the buffers of a uid's processes, or of the one with this pid, which have died."""
        with self.heaps.lock:
            clients = tuple(self.clients)
        for client in clients:
            if client.caller.uid == uid and pid in (0, client.caller.pid):
                client.close()


def _check_priority(priority: int) -> None:
    if not PRIORITY_MIN <= priority <= PRIORITY_MAX:
        raise ServiceError(Errno.EINVAL, f"priority {priority} is outside {PRIORITY_MIN} to {PRIORITY_MAX}")
