"""Faults in how buffers end: freed, preempted, or left behind."""

from __future__ import annotations

from npu_conformance.faults.npu_buffers.boundary import AllocatingManager, FaultyAllocator, FaultyBuffer, buffer_fault
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.npu.buffers import (
    AllocatorCallback,
    AllocRequest,
    BufferState,
    Errno,
    FileSegment,
    NpuBuffer,
)


class _FreesNothingOfABadList(FaultyAllocator):
    def put_buffers(self, ids: tuple[int, ...]) -> None:
        if any(self.live(one) is None for one in ids):
            raise ServiceError(Errno.EINVAL, "unknown")
        super().put_buffers(ids)


class _StopsAtTheUnknown(FaultyAllocator):
    def put_buffers(self, ids: tuple[int, ...]) -> None:
        for one in ids:
            super().put_buffers((one,))


class _SaysNothingOfTheUnknown(FaultyAllocator):
    def put_buffers(self, ids: tuple[int, ...]) -> None:
        super().put_buffers(tuple(one for one in ids if self.live(one) is not None))


class _RefusesAnEmptyList(FaultyAllocator):
    def put_buffers(self, ids: tuple[int, ...]) -> None:
        if not ids:
            raise ServiceError(Errno.EINVAL, "nothing to free")
        super().put_buffers(ids)


class _FreesForAnotherApp(FaultyAllocator):
    def put_buffers(self, ids: tuple[int, ...]) -> None:
        for one in ids:
            owner = next((each for each in self.service.allocators if each.live(one) is not None), self)
            owner.inner.put_buffers((one,))


class _LeaksWhatIsFreed(FaultyAllocator):
    def put_buffers(self, ids: tuple[int, ...]) -> None:
        for one in ids:
            buffer = self.live(one)
            if buffer is not None and buffer.memory is not None and buffer.memory[0]:
                buffer.heap = None
        super().put_buffers(ids)


class _LeaksWhatIsFreedEarly(FaultyAllocator):
    def put_buffers(self, ids: tuple[int, ...]) -> None:
        for one in ids:
            buffer = self.live(one)
            if buffer is not None and buffer.state is BufferState.ALLOCATING:
                buffer.heap = None
        super().put_buffers(ids)


class _OutlivesItsClient(FaultyAllocator):
    def __init__(self, service: AllocatingManager, client: AllocatorCallback) -> None:
        super().__init__(service, client)
        service.kept.append(self.inner)
        self.inner.client.close = lambda: None  # type: ignore[method-assign]


class _OutlivesAKill(FaultyAllocator):
    def __init__(self, service: AllocatingManager, client: AllocatorCallback) -> None:
        super().__init__(service, client)
        service.inner.allocators.clients.clear()


class _PreemptsTwice(FaultyAllocator):
    def on_notify_preempted(self, id: int) -> None:
        super().on_notify_preempted(id)
        super().on_notify_preempted(id)


class _PreemptsSilently(FaultyAllocator):
    def on_notify_preempted(self, id: int) -> None:
        pass


class _MapsThePreempted(FaultyAllocator):
    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        if buffer.inner.state is not BufferState.PREEMPTED:
            return super().map(buffer, length, protection, offset)
        token = self.service.context.exports.export(memoryview(bytearray(length)), protection)
        return Memory("mappableFile", length, token, protection)


class _ForgetsThePreempted(FaultyAllocator):
    def on_notify_preempted(self, id: int) -> None:
        if self.live(id) is not None:
            super().put_buffers((id,))
        super().on_notify_preempted(id)


class _LoadsThePreempted(FaultyAllocator):
    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        buffer = self.live(id)
        if buffer is not None and buffer.state is BufferState.PREEMPTED:
            self.on_load(id, 0, None)
        else:
            super().load_file_segment_to_buffer(id, segment)


class _CountsThePreemptedTwice(FaultyAllocator):
    def put_buffers(self, ids: tuple[int, ...]) -> None:
        for one in ids:
            buffer = self.live(one)
            if buffer is not None and buffer.state is BufferState.PREEMPTED and buffer.heap is not None:
                buffer.heap.used -= buffer.size
        super().put_buffers(ids)


class _PreemptsTheMapped(FaultyAllocator):
    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        memory = super().map(buffer, length, protection, offset)
        buffer.inner.mappings.discard(memory.token)
        return memory

    def unmap(self, buffer: FaultyBuffer, token: int) -> None:
        self.service.context.exports.withdraw(token)


class _LosesALoadWithItsBuffer(FaultyAllocator):
    def on_load(self, id: int, errno: int, message: str | None) -> None:
        if errno != Errno.ECANCELED:
            super().on_load(id, errno, message)


class _SaysNoMemoryForACutLoad(FaultyAllocator):
    def on_load(self, id: int, errno: int, message: str | None) -> None:
        super().on_load(id, Errno.ENOMEM if errno == Errno.ECANCELED else errno, message)


class _TellsOfThePreemptionFirst(FaultyAllocator):
    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        if errno == Errno.ECANCELED:
            self.service.clock.post(lambda: FaultyAllocator.on_get_buffer(self, id, buffer, errno, message))
        else:
            super().on_get_buffer(id, buffer, errno, message)


class _LosesACutAllocation(FaultyAllocator):
    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        if errno != Errno.ECANCELED:
            super().on_get_buffer(id, buffer, errno, message)


class _PreemptsMoreThanOnceByPriority(FaultyAllocator):
    def __init__(self, service: AllocatingManager, client: AllocatorCallback) -> None:
        super().__init__(service, client)
        self._changed: set[int] = set()

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        self._changed -= {one.id for one in requests}
        super().get_buffers(requests)

    def set_priority(self, id: int, priority: int) -> None:
        self._changed.add(id)
        super().set_priority(id, priority)

    def on_notify_preempted(self, id: int) -> None:
        super().on_notify_preempted(id)
        if id in self._changed:
            super().on_notify_preempted(id)


FAULTS = (
    buffer_fault("frees-nothing-of-a-bad-list", "Looks for unknown buffers first, and frees none where there are some.",
                 "NPU-BUF-013", "freeing.unknown_among_known", _FreesNothingOfABadList),
    buffer_fault("stops-at-the-unknown", "Frees a list as far as the first unknown buffer.", "NPU-BUF-013",
                 "freeing.unknown_among_known", _StopsAtTheUnknown),
    buffer_fault("says-nothing-of-the-unknown", "Takes unknown buffers for freed.", "NPU-BUF-013", "freeing.twice",
                 _SaysNothingOfTheUnknown),
    buffer_fault("refuses-an-empty-list", "Takes an empty list for a mistake.", "NPU-BUF-013", "freeing.all_known",
                 _RefusesAnEmptyList),
    buffer_fault("frees-for-another-app", "Frees the buffer of an id, whoever has it.", "NPU-BUF-013",
                 "freeing.of_another_app", _FreesForAnotherApp),
    buffer_fault("leaks-what-is-freed", "Does not count the memory of a freed buffer back.", "NPU-BUF-013",
                 "freeing.memory_comes_back", _LeaksWhatIsFreed),
    buffer_fault("leaks-what-is-freed-early", "Forgets the memory of a buffer that is freed before its answer.",
                 "NPU-BUF-013", "freeing.while_allocating", _LeaksWhatIsFreedEarly),
    buffer_fault("outlives-its-client", "Keeps the buffers of a client whose connection broke.", "NPU-BUF-013",
                 "freeing.death_of_the_client", _OutlivesItsClient),
    buffer_fault("outlives-a-kill", "Hears nothing of a process that the system killed.", "NPU-BUF-013",
                 "freeing.killed_client", _OutlivesAKill),
    buffer_fault("preempts-twice", "Tells of a preemption twice.", "NPU-BUF-009", "preemption.idle_buffer",
                 _PreemptsTwice),
    buffer_fault("preempts-silently", "Tells nobody of a preemption.", "NPU-BUF-009", "preemption.idle_buffer",
                 _PreemptsSilently),
    buffer_fault("maps-the-preempted", "Maps bytes of its own where the buffer's are gone.", "NPU-BUF-009",
                 "preemption.idle_buffer", _MapsThePreempted),
    buffer_fault("forgets-the-preempted", "Takes a preempted buffer for freed.", "NPU-BUF-009",
                 "preemption.id_lives_until_freed", _ForgetsThePreempted),
    buffer_fault("loads-the-preempted", "Says that it has loaded a preempted buffer.", "NPU-BUF-012",
                 "preemption.load_of_a_preempted_buffer", _LoadsThePreempted),
    buffer_fault("counts-the-preempted-twice",
                 "Gives the memory of a preempted buffer back once more when it is freed.", "NPU-BUF-009",
                 "preemption.frees_the_memory_once", _CountsThePreemptedTwice),
    buffer_fault("preempts-the-mapped", "Does not know who has a buffer mapped.", "NPU-BUF-009",
                 "preemption.not_while_mapped", _PreemptsTheMapped),
    buffer_fault("loses-a-load-with-its-buffer", "Does not answer a load that a preemption cut off.", "NPU-BUF-010",
                 "preemption.during_a_load", _LosesALoadWithItsBuffer),
    buffer_fault("says-no-memory-for-a-cut-load", "Answers a load that a preemption cut off with ENOMEM.",
                 "NPU-BUF-010", "preemption.during_a_load", _SaysNoMemoryForACutLoad),
    buffer_fault("tells-of-the-preemption-first", "Tells of a preemption before the answer that it cut off.",
                 "NPU-BUF-010", "preemption.during_an_allocation", _TellsOfThePreemptionFirst),
    buffer_fault("loses-a-cut-allocation", "Does not answer a request that a preemption cut off.", "NPU-BUF-003",
                 "preemption.during_an_allocation", _LosesACutAllocation),
    buffer_fault("preempts-more-than-once-by-priority",
                 "Tells of the preemption again when the buffer's priority had been changed.", "NPU-BUF-009",
                 "preemption.by_set_priority", _PreemptsMoreThanOnceByPriority),
)  # fmt: skip
"""Faults in freeing and preempting."""
