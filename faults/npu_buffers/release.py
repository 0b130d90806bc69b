"""Faults in how buffers end: freed, preempted, or left behind."""

from __future__ import annotations

from npu_conformance.faults.npu_buffers.boundary import BentManager, Conforming, FaultyBuffer
from npu_conformance.reference.npu_buffers.buffer import State
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.npu.buffers import AllocatorCallback, AllocRequest, Errno, FileSegment, NpuBuffer


class FreesNothingOfABadList(Conforming):
    """Looks for unknown buffers first, and frees none where there are some."""

    breaks = ("NPU-BUF-013",)
    caught_by = "cts.npu_buffers.freeing.unknown_among_known"

    def put_buffers(self, ids: tuple[int, ...]) -> None:
        if any(self.live(one) is None for one in ids):
            raise ServiceError(Errno.EINVAL, "unknown")
        super().put_buffers(ids)


class StopsAtTheUnknown(Conforming):
    """Frees a list as far as the first unknown buffer."""

    breaks = ("NPU-BUF-013",)
    caught_by = "cts.npu_buffers.freeing.unknown_among_known"

    def put_buffers(self, ids: tuple[int, ...]) -> None:
        for one in ids:
            super().put_buffers((one,))


class SaysNothingOfTheUnknown(Conforming):
    """Takes unknown buffers for freed."""

    breaks = ("NPU-BUF-013",)
    caught_by = "cts.npu_buffers.freeing.twice"

    def put_buffers(self, ids: tuple[int, ...]) -> None:
        super().put_buffers(tuple(one for one in ids if self.live(one) is not None))


class RefusesAnEmptyList(Conforming):
    """Takes an empty list for a mistake."""

    breaks = ("NPU-BUF-013",)
    caught_by = "cts.npu_buffers.freeing.all_known"

    def put_buffers(self, ids: tuple[int, ...]) -> None:
        if not ids:
            raise ServiceError(Errno.EINVAL, "nothing to free")
        super().put_buffers(ids)


class FreesForAnotherApp(Conforming):
    """Frees the buffer of an id, whoever has it."""

    breaks = ("NPU-BUF-013",)
    caught_by = "cts.npu_buffers.freeing.of_another_app"

    def put_buffers(self, ids: tuple[int, ...]) -> None:
        for one in ids:
            owner = next((each for each in self.service.allocators if each.live(one) is not None), self)
            owner.inner.put_buffers((one,))


class LeaksWhatIsFreed(Conforming):
    """Does not count the memory of a freed buffer back."""

    breaks = ("NPU-BUF-013",)
    caught_by = "cts.npu_buffers.freeing.memory_comes_back"

    def put_buffers(self, ids: tuple[int, ...]) -> None:
        for one in ids:
            buffer = self.live(one)
            if buffer is not None and buffer.memory is not None and buffer.memory[0]:
                buffer.heap = None
        super().put_buffers(ids)


class LeaksWhatIsFreedEarly(Conforming):
    """Forgets the memory of a buffer that is freed before its answer."""

    breaks = ("NPU-BUF-013",)
    caught_by = "cts.npu_buffers.freeing.while_allocating"

    def put_buffers(self, ids: tuple[int, ...]) -> None:
        for one in ids:
            buffer = self.live(one)
            if buffer is not None and buffer.state is State.ALLOCATING:
                buffer.heap = None
        super().put_buffers(ids)


class OutlivesItsClient(Conforming):
    """Keeps the buffers of a client whose connection broke."""

    breaks = ("NPU-BUF-013",)
    caught_by = "cts.npu_buffers.freeing.death_of_the_client"

    def __init__(self, service: BentManager, client: AllocatorCallback) -> None:
        super().__init__(service, client)
        service.kept.append(self.inner)
        self.inner.client.close = lambda: None  # type: ignore[method-assign]


class OutlivesAKill(Conforming):
    """Hears nothing of a process that the system killed."""

    breaks = ("NPU-BUF-013",)
    caught_by = "cts.npu_buffers.freeing.killed_client"

    def __init__(self, service: BentManager, client: AllocatorCallback) -> None:
        super().__init__(service, client)
        service.inner.allocators.clients.clear()


class PreemptsTwice(Conforming):
    """Tells of a preemption twice."""

    breaks = ("NPU-BUF-009",)
    caught_by = "cts.npu_buffers.preemption.idle_buffer"

    def preempted(self, id: int) -> None:
        super().preempted(id)
        super().preempted(id)


class PreemptsSilently(Conforming):
    """Tells nobody of a preemption."""

    breaks = ("NPU-BUF-009",)
    caught_by = "cts.npu_buffers.preemption.idle_buffer"

    def preempted(self, id: int) -> None:
        pass


class MapsThePreempted(Conforming):
    """Maps bytes of its own where the buffer's are gone."""

    breaks = ("NPU-BUF-009",)
    caught_by = "cts.npu_buffers.preemption.idle_buffer"

    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        if buffer.inner.state is not State.PREEMPTED:
            return super().map(buffer, length, protection, offset)
        token = self.service.context.exports.export(memoryview(bytearray(length)), protection)
        return Memory("mappableFile", length, token, protection)


class ForgetsThePreempted(Conforming):
    """Takes a preempted buffer for freed."""

    breaks = ("NPU-BUF-009",)
    caught_by = "cts.npu_buffers.preemption.id_lives_until_freed"

    def preempted(self, id: int) -> None:
        if self.live(id) is not None:
            super().put_buffers((id,))
        super().preempted(id)


class LoadsThePreempted(Conforming):
    """Says that it has loaded a preempted buffer."""

    breaks = ("NPU-BUF-012",)
    caught_by = "cts.npu_buffers.preemption.load_of_a_preempted_buffer"

    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        buffer = self.live(id)
        if buffer is not None and buffer.state is State.PREEMPTED:
            self.loaded(id, 0, None)
        else:
            super().load_file_segment_to_buffer(id, segment)


class CountsThePreemptedTwice(Conforming):
    """Gives the memory of a preempted buffer back once more when it is freed."""

    breaks = ("NPU-BUF-009",)
    caught_by = "cts.npu_buffers.preemption.frees_the_memory_once"

    def put_buffers(self, ids: tuple[int, ...]) -> None:
        for one in ids:
            buffer = self.live(one)
            if buffer is not None and buffer.state is State.PREEMPTED and buffer.heap is not None:
                buffer.heap.used -= buffer.size
        super().put_buffers(ids)


class PreemptsTheMapped(Conforming):
    """Does not know who has a buffer mapped."""

    breaks = ("NPU-BUF-009",)
    caught_by = "cts.npu_buffers.preemption.not_while_mapped"

    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        memory = super().map(buffer, length, protection, offset)
        buffer.inner.mappings.discard(memory.token)
        return memory

    def unmap(self, buffer: FaultyBuffer, token: int) -> None:
        self.service.context.exports.withdraw(token)


class LosesALoadWithItsBuffer(Conforming):
    """Does not answer a load that a preemption cut off."""

    breaks = ("NPU-BUF-010",)
    caught_by = "cts.npu_buffers.preemption.during_a_load"

    def loaded(self, id: int, errno: int, message: str | None) -> None:
        if errno != Errno.ECANCELED:
            super().loaded(id, errno, message)


class SaysNoMemoryForACutLoad(Conforming):
    """Answers a load that a preemption cut off with ENOMEM."""

    breaks = ("NPU-BUF-010",)
    caught_by = "cts.npu_buffers.preemption.during_a_load"

    def loaded(self, id: int, errno: int, message: str | None) -> None:
        super().loaded(id, Errno.ENOMEM if errno == Errno.ECANCELED else errno, message)


class TellsOfThePreemptionFirst(Conforming):
    """Tells of a preemption before the answer that it cut off."""

    breaks = ("NPU-BUF-010",)
    caught_by = "cts.npu_buffers.preemption.during_an_allocation"

    def answer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        if errno == Errno.ECANCELED:
            self.service.clock.post(lambda: Conforming.answer(self, id, buffer, errno, message))
        else:
            super().answer(id, buffer, errno, message)


class LosesACutAllocation(Conforming):
    """Does not answer a request that a preemption cut off."""

    breaks = ("NPU-BUF-003",)
    caught_by = "cts.npu_buffers.preemption.during_an_allocation"

    def answer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        if errno != Errno.ECANCELED:
            super().answer(id, buffer, errno, message)


class PreemptsMoreThanOnceByPriority(Conforming):
    """Tells of the preemption again when the buffer's priority had been changed."""

    breaks = ("NPU-BUF-009",)
    caught_by = "cts.npu_buffers.preemption.by_set_priority"

    def __init__(self, service: BentManager, client: AllocatorCallback) -> None:
        super().__init__(service, client)
        self._changed: set[int] = set()

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        self._changed -= {one.id for one in requests}
        super().get_buffers(requests)

    def set_priority(self, id: int, priority: int) -> None:
        self._changed.add(id)
        super().set_priority(id, priority)

    def preempted(self, id: int) -> None:
        super().preempted(id)
        if id in self._changed:
            super().preempted(id)
