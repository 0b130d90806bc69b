"""The client library of the buffer API, as the NDK's buffer.h has it (API 37), with cookies and their deleters.

An error is OSError with the errno that the C function would set; what the header says aborts the process is
ValueError. Callbacks come in the thread that brings them, possibly before the call returns.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.npu.buffers import (
    AllocatorCallback,
    AllocRequest,
    BufferState,
    Errno,
    FileSegment,
    NpuBuffer,
    errno_of,
)
from npu_conformance.specs.npu.manager import Manager

Deleter = Callable[[Any], None]
OnAlloc = Callable[[Any, int, "Buffer | None"], None]
OnPreempt = Callable[[Any], None]
OnLoad = Callable[[Any, int, "Buffer"], None]


class _Cookie:
    """A cookie as it was set once: deleted when the last of the request and its allocations lets go (NPU-BUF-005)."""

    def __init__(self, value: Any, deleter: Deleter | None) -> None:
        self.value = value
        self._deleter = deleter
        self._holders = 1
        self._lock = threading.Lock()

    def hold(self) -> _Cookie:
        """Count one more user of the cookie."""
        with self._lock:
            self._holders += 1
        return self

    def let_go(self) -> None:
        """Count one user of the cookie less; the last one deletes it."""
        with self._lock:
            self._holders -= 1
            is_last = self._holders == 0
        if is_last and self._deleter is not None:
            self._deleter(self.value)


@dataclass(eq=False)
class Request:
    """An allocation request: ANpuManager_AllocRequest. wire: its fields; their defaults are NPU-BUF-001's."""

    wire: AllocRequest = field(default_factory=lambda: AllocRequest(0))
    on_preempt: OnPreempt | None = None
    _on_alloc: OnAlloc | None = None
    _cookie: _Cookie = field(default_factory=lambda: _Cookie(None, None))

    def set(self, **fields: Any) -> Request:
        """Change fields of the request: device_number, buffer_type, size, priority, file_segment, protection."""
        self.wire = replace(self.wire, **fields)
        return self

    def set_cookie(self, cookie: Any, deleter: Deleter | None) -> None:
        """Take a cookie over and delete the one before. The deleter gets cookies of None, too."""
        before, self._cookie = self._cookie, _Cookie(cookie, deleter)
        before.let_go()

    def set_on_alloc(self, on_alloc: OnAlloc) -> None:
        """Set the callback for the answer. Raises ValueError for None."""
        if on_alloc is None:
            raise ValueError("onAlloc must not be null")
        self._on_alloc = on_alloc

    def free(self) -> None:
        """Destroy the request; allocations that it began go on."""
        self._cookie.let_go()

    def snapshot(self, identifier: int) -> Buffer:
        """What an allocation keeps of the request as it is now. ValueError: onAlloc was not set."""
        if self._on_alloc is None:
            raise ValueError("onAlloc must be set before allocAsync")
        return Buffer(replace(self.wire, id=identifier), self._on_alloc, self.on_preempt, self._cookie.hold())


class Buffer:
    """A buffer of this process: ANpuBuffer. Made by Buffers."""

    def __init__(self, request: AllocRequest, on_alloc: OnAlloc, on_preempt: OnPreempt | None, cookie: _Cookie) -> None:
        self.request = request
        self.on_alloc = on_alloc
        self.on_preempt = on_preempt
        self.cookie = cookie
        self.state = BufferState.ALLOCATING
        self.remote: NpuBuffer | None = None
        self.on_load: OnLoad | None = None
        self.mappings: set[int] = set()
        self.preemption_is_due = False

    def map(self, length: int, protection: int, offset: int = 0) -> Memory:
        """Map a range. OSError: ENOMEM (preempted, or being loaded), EACCES (beyond the request's protection)."""
        if self.state is not BufferState.ALLOCATED or self.remote is None:
            raise OSError(Errno.ENOMEM, f"buffer {self.request.id} is {self.state.name}")
        if protection & ~self.request.protection:
            raise OSError(Errno.EACCES, f"protection {protection} exceeds {self.request.protection}")
        remote = self.remote
        memory: Memory = _raising(lambda: remote.map(length, protection, offset))
        self.mappings.add(memory.token)
        return memory

    def unmap(self, memory: Memory) -> None:
        """Unmap. OSError EINVAL: it is no mapping of this buffer. A preemption that waited for this is notified now."""
        if memory.token not in self.mappings or self.remote is None:
            raise OSError(Errno.EINVAL, f"{memory.token} is no mapping of buffer {self.request.id}")
        self.mappings.discard(memory.token)
        remote = self.remote
        if self.state is not BufferState.PREEMPTED:
            _raising(lambda: remote.unmap(memory.token))
        self.notify_of_preemption()

    def preempted(self) -> None:
        """Handle the loss of the memory to the service: calls that are under way end first (NPU-BUF-010)."""
        if self.state in (BufferState.PREEMPTED, BufferState.FREED):
            return
        before, self.state = self.state, BufferState.PREEMPTED
        if before is BufferState.ALLOCATING:
            self.on_alloc(self.cookie.value, Errno.ECANCELED, None)
        self.load_ended(Errno.ECANCELED)
        self.preemption_is_due = True
        self.notify_of_preemption()

    def notify_of_preemption(self) -> None:
        """Notify the client of a preemption once, and not while the buffer is mapped (NPU-BUF-009)."""
        if self.preemption_is_due and not self.mappings:
            self.preemption_is_due = False
            if self.on_preempt is not None:
                self.on_preempt(self.cookie.value)

    def load_ended(self, errno: int) -> None:
        """Answer the load that is under way, if there is one."""
        on_load, self.on_load = self.on_load, None
        if self.state is BufferState.LOADING:
            self.state = BufferState.ALLOCATED
        if on_load is not None:
            on_load(self.cookie.value, errno, self)


class Buffers(AllocatorCallback):
    """The buffers of this process, over one allocator of the manager. OSError: there is none (ENOSYS, for example)."""

    def __init__(self, manager: Manager) -> None:
        self._buffers: dict[int, Buffer] = {}
        self._ids = itertools.count(1)
        self._lock = threading.RLock()
        self._allocator = _raising(lambda: manager.create_allocator(self))

    def is_supported(self, requests: Iterable[Request]) -> tuple[bool, ...]:
        """ANpuManager_isSupported."""
        wire = tuple(request.wire for request in requests)
        answers: tuple[bool, ...] = _raising(lambda: self._allocator.is_supported(wire))
        return answers

    def alloc_async(self, requests: Iterable[Request]) -> None:
        """ANpuManager_allocAsync: a failure of the call itself goes to each onAlloc."""
        buffers = [request.snapshot(next(self._ids)) for request in requests]
        self._buffers |= {buffer.request.id: buffer for buffer in buffers}
        try:
            self._allocator.get_buffers(tuple(buffer.request for buffer in buffers))
        except InterfaceError as error:
            for buffer in buffers:
                self.on_get_buffer(buffer.request.id, None, errno_of(error), str(error))

    def free(self, buffers: Iterable[Buffer]) -> None:
        """ANpuBuffer_free. OSError EINVAL: some are unknown; the others are freed."""
        identifiers = [buffer.request.id for buffer in buffers]
        known = [self._buffers.pop(one) for one in identifiers if one in self._buffers]
        for buffer in known:
            buffer.state = BufferState.FREED
            buffer.cookie.let_go()
        _raising(lambda: self._allocator.put_buffers(tuple(identifiers)))

    def set_priority(self, buffer: Buffer, priority: int) -> None:
        """ANpuBuffer_setPriority."""
        _raising(lambda: self._allocator.set_priority(buffer.request.id, priority))

    def load_async(self, buffer: Buffer, segment: FileSegment, on_load: OnLoad) -> None:
        """ANpuBuffer_loadAsync: EINVAL through the callback unless the buffer is idle. ValueError: no callback."""
        if on_load is None:
            raise ValueError("onLoad must not be null")
        with self._lock:
            is_idle = buffer.state is BufferState.ALLOCATED
            if is_idle:
                buffer.state = BufferState.LOADING
                buffer.on_load = on_load
        if not is_idle:
            on_load(buffer.cookie.value, Errno.EINVAL, buffer)
            return
        try:
            self._allocator.load_file_segment_to_buffer(buffer.request.id, segment)
        except InterfaceError as error:
            buffer.load_ended(errno_of(error))

    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        """The answer to a request; one that comes late, or again, is dropped."""
        found = self._buffers.get(id)
        if found is None or found.state is not BufferState.ALLOCATING:
            return
        if errno == Errno.ECANCELED:
            # Its preemption is about to be notified: the cookie is needed once more.
            found.state = BufferState.PREEMPTED
            found.preemption_is_due = True
            found.on_alloc(found.cookie.value, errno, None)
            return
        if errno or buffer is None:
            found.state = BufferState.FREED
            found.on_alloc(found.cookie.value, errno or Errno.EINVAL, None)
            self._forget(found)
            return
        found.remote = buffer
        found.state = BufferState.ALLOCATED
        found.on_alloc(found.cookie.value, 0, found)

    def on_load(self, id: int, errno: int, message: str | None) -> None:
        """The answer to a load."""
        found = self._buffers.get(id)
        if found is not None:
            found.load_ended(errno)

    def on_notify_preempted(self, id: int) -> None:
        """A buffer, or an allocation that is under way, was preempted."""
        found = self._buffers.get(id)
        if found is None:
            return
        found.preempted()
        if found.remote is None:
            found.notify_of_preemption()
            self._forget(found)

    def _forget(self, buffer: Buffer) -> None:
        """Forget a request that failed: no callback will be called for it."""
        if self._buffers.pop(buffer.request.id, None) is not None:
            buffer.cookie.let_go()


def _raising(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except InterfaceError as error:
        raise OSError(errno_of(error), str(error)) from None
