"""Allocators that differ and conform."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.faults.npu_buffers.boundary import AllocatingManager, FaultyAllocator, FaultyBuffer, buffer_variant
from npu_conformance.specs.errors import IllegalArgument, ServiceError
from npu_conformance.specs.interfaces import refuse
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.npu.buffers import (
    AllocatorCallback,
    AllocRequest,
    BufferState,
    BufferType,
    Errno,
    FileSegment,
)


class _SaysNoEntryForThePreempted(FaultyAllocator):
    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        if buffer.inner.state is BufferState.PREEMPTED:
            raise ServiceError(Errno.ENOENT, "preempted")
        return super().map(buffer, length, protection, offset)


class _AnswersBeforeTheReturn(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(requests)
        self.service.clock.advance(1_000_000_000)

    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        super().load_file_segment_to_buffer(id, segment)
        self.service.clock.advance(1_000_000_000)


class _NeverPreempts(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        in_range = [0 <= one.priority <= 1000 for one in requests]
        flat = (replace(one, priority=500) if ok else one for one, ok in zip(requests, in_range, strict=True))
        super().get_buffers(tuple(flat))

    def set_priority(self, id: int, priority: int) -> None:
        super().set_priority(id, 500 if 0 <= priority <= 1000 else priority)


class _LargerIsStronger(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(tuple(replace(one, priority=1000 - one.priority) for one in requests))

    def set_priority(self, id: int, priority: int) -> None:
        super().set_priority(id, 1000 - priority)


class _RefusesAtTheCall(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        ids = [one.id for one in requests]
        if len(set(ids)) < len(ids) or any(self.live(one) is not None for one in ids):
            raise ServiceError(Errno.EINVAL, "duplicate id")
        if any(one.buffer_type not in tuple(BufferType) for one in requests):
            raise IllegalArgument("buffer type")
        super().get_buffers(requests)

    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        buffer = self.live(id)
        if buffer is None or buffer.state is not BufferState.ALLOCATED:
            raise ServiceError(Errno.EINVAL, "not idle")
        super().load_file_segment_to_buffer(id, segment)


class _QueuesLoads(FaultyAllocator):
    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        buffer = self.live(id)
        if buffer is not None and buffer.state is BufferState.LOADING:
            self.service.clock.advance(1_000_000_000)
        super().load_file_segment_to_buffer(id, segment)


class _SaysInvalidBeyondTheProtection(FaultyAllocator):
    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        if protection & ~buffer.inner.request.protection:
            raise IllegalArgument(f"protection {protection}")
        return super().map(buffer, length, protection, offset)


class _MapsWholePages(FaultyAllocator):
    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        if offset % 4096:
            raise ServiceError(Errno.EINVAL, f"offset {offset} is at no page")
        return super().map(buffer, length, protection, offset)


class _RealTime(FaultyAllocator):
    real_time = True


class _FewHeaps(FaultyAllocator):
    heaps = "1:cache=8"


class _NoAllocator(FaultyAllocator):
    def __init__(self, service: AllocatingManager, client: AllocatorCallback) -> None:
        raise refuse("Manager.createAllocator")


class _NoProtectedBuffers(FaultyAllocator):
    def __init__(self, service: AllocatingManager, client: AllocatorCallback) -> None:
        raise ServiceError(Errno.ENOSYS, "the device has no driver for protected buffers")


VARIANTS = (
    buffer_variant("unbent", "The boundary alone.", FaultyAllocator),
    buffer_variant("says-no-entry-for-the-preempted", "Refuses to map a preempted buffer with ENOENT.",
                   _SaysNoEntryForThePreempted),
    buffer_variant("answers-before-the-return", "Sends the callbacks of a request while the call still lasts.",
                   _AnswersBeforeTheReturn),
    buffer_variant("never-preempts", "Knows priorities and takes no memory for them.", _NeverPreempts),
    buffer_variant("larger-is-stronger", "Takes 1000 for the strongest priority.", _LargerIsStronger),
    buffer_variant("refuses-at-the-call", "Throws at types that are none, live ids, and loads of what is not idle.",
                   _RefusesAtTheCall),
    buffer_variant("queues-loads",
                   "Begins a load when the one before is over, and finds the buffer idle (NpuAllocator.java).",
                   _QueuesLoads),
    buffer_variant("says-invalid-beyond-the-protection", "Refuses mappings beyond the protection with EINVAL.",
                   _SaysInvalidBeyondTheProtection),
    buffer_variant("maps-whole-pages", "Refuses mappings that do not begin at a page, as mmap does.", _MapsWholePages),
    buffer_variant("real-time", "Time passes by itself; each client is notified in a thread of its own.", _RealTime),
    buffer_variant("few-heaps", "Has memory for caches of its second device alone.", _FewHeaps),
    buffer_variant("no-allocator", "Has no allocator at all.", _NoAllocator),
    buffer_variant("no-protected-buffers", "Says ENOSYS to whoever wants an allocator.", _NoProtectedBuffers),
)  # fmt: skip
"""Allocators that every case lets pass."""
