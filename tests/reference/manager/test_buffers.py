"""The reference's buffers: heaps, who is preempted, in which order things happen, and that no memory leaks."""

from __future__ import annotations

import errno
import gc
import mmap
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from npu_conformance.cts import npu_buffers as cases
from npu_conformance.cts.lib.buffer_fixture import AllocatorRecorder, BufferApp, pattern
from npu_conformance.faults import npu_buffers, npu_manager
from npu_conformance.harness.judge.verdicts import CaseEnded, Crashed
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.loading import Isolation, open_subject
from npu_conformance.harness.wire.memory import HostMemory
from npu_conformance.harness.wire.protocol import Detach, MemoryRead, MemoryWrite
from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.manager.delivery import VirtualDelivery
from npu_conformance.reference.npu_buffers import heaps
from npu_conformance.reference.npu_buffers.allocator import Allocators, ClientAllocator
from npu_conformance.specs import requirements
from npu_conformance.specs.errors import IllegalArgument, SecurityDenied, ServiceError
from npu_conformance.specs.neuralnetworks.types import CacheHandle
from npu_conformance.specs.npu.buffers import AllocRequest, BufferType, Errno, FileSegment, NpuBuffer
from npu_conformance.specs.plugin import Caller, NoFiles

CASES = {case.id: case for case in cases.cases()}
MIB = 1 << 20


class Service:
    """Allocators over heaps of 8 MiB, with a clock of their own."""

    def __init__(self) -> None:
        self.clock, self.memory = VirtualClock(), HostMemory()
        self.heaps = heaps.parse("0:cache=8,0:model_weights=8")
        self.allocators = Allocators(VirtualDelivery(self.clock), self.heaps, self.memory, NoFiles())

    def client(self, uid: int = 1) -> tuple[ClientAllocator, AllocatorRecorder]:
        recorder = AllocatorRecorder()
        return self.allocators.create(Caller(uid, 1), recorder), recorder


def buffer_of(recorder: AllocatorRecorder, identifier: int) -> NpuBuffer:
    """The buffer that came last under this id."""
    found = next(answer.buffer for answer in reversed(recorder.answers) if answer.id == identifier)
    assert found is not None
    return found


def cache(identifier: int, mebibytes: int, priority: int = 500) -> AllocRequest:
    return AllocRequest(identifier, 0, BufferType.CACHE, mebibytes * MIB, priority, protection=3)


def test_heaps_are_read() -> None:
    found = heaps.parse("0:cache=8,2:model_weights=16")
    sizes = [found.of(AllocRequest(1, device, kind)) for device, kind in ((0, 3), (2, 2), (2, 3))]
    assert [heap and heap.capacity for heap in sizes] == [8 * MIB, 16 * MIB, None]
    assert heaps.parse("none").of(cache(1, 1)) is None


@pytest.mark.parametrize("text", ["", "0:cache", "cache=8", "0:unknown=8", "-1:cache=8", "0:cache=many"])
def test_wrong_heaps_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="DEVICE:TYPE=MIB"):
        heaps.parse(text)


def test_the_weakest_goes_first_and_no_more_than_needed() -> None:
    service = Service()
    allocator, recorder = service.client()
    allocator.get_buffers((cache(1, 3, 600), cache(2, 3, 900), cache(3, 2, 700)))
    service.clock.advance(10**9)
    allocator.get_buffers((cache(4, 3, 500),))
    service.clock.advance(10**9)
    assert recorder.events[3:] == [("preempted", 2, 0), ("allocated", 4, 0)]


def test_equals_and_stronger_ones_are_spared() -> None:
    service = Service()
    allocator, recorder = service.client()
    allocator.get_buffers((cache(1, 4, 500), cache(2, 4, 499), cache(3, 4, 500)))
    service.clock.advance(10**9)
    assert recorder.events == [("allocated", 1, 0), ("allocated", 2, 0), ("allocated", 3, Errno.ENOMEM)]


def test_nobody_goes_where_it_would_not_help() -> None:
    service = Service()
    allocator, recorder = service.client()
    allocator.get_buffers((cache(1, 4, 400), cache(2, 4, 1000), cache(3, 8, 500)))
    service.clock.advance(10**9)
    assert recorder.events[2] == ("allocated", 3, Errno.ENOMEM)
    assert len(recorder.events) == 3


def test_what_can_never_be_had_is_not_supported() -> None:
    service = Service()
    allocator, recorder = service.client()
    allocator.get_buffers((cache(1, 8),))
    service.clock.advance(10**9)
    asked = (
        cache(2, 8),
        cache(3, 9),
        cache(4, 0),
        cache(5, 1, priority=1001),
        AllocRequest(6, 1, BufferType.CACHE, MIB),
    )
    assert allocator.is_supported(asked) == (True, False, False, False, False)
    allocator.get_buffers(asked[1:])
    service.clock.advance(10**9)
    assert [errno for _, _, errno in recorder.events[1:]] == [Errno.ENOMEM, Errno.EINVAL, Errno.EINVAL, Errno.ENOSYS]


def test_heaps_are_apart() -> None:
    service = Service()
    allocator, recorder = service.client()
    weights = AllocRequest(2, 0, BufferType.MODEL_WEIGHTS, 8 * MIB)
    allocator.get_buffers((cache(1, 8), weights))
    service.clock.advance(10**9)
    assert recorder.events == [("allocated", 1, 0), ("allocated", 2, 0)]


def test_one_worker_does_one_at_a_time() -> None:
    service = Service()
    allocator, recorder = service.client()
    allocator.get_buffers((cache(1, 4), cache(2, 4)))
    service.clock.advance(MIB)
    assert recorder.events == [("allocated", 1, 0)]
    service.clock.advance(MIB)
    assert recorder.events == [("allocated", 1, 0), ("allocated", 2, 0)]


def test_nothing_is_told_while_time_stands_still() -> None:
    service = Service()
    allocator, recorder = service.client()
    allocator.get_buffers((cache(1, 1), AllocRequest(2)))
    assert recorder.events == []


def test_memory_is_counted_back_by_free_and_by_death() -> None:
    service = Service()
    allocator, recorder = service.client(1)
    allocator.get_buffers((cache(1, 2), cache(2, 2)))
    service.clock.advance(10**9)
    allocator.put_buffers((1,))
    assert service.heaps.used() == 2 * MIB
    service.allocators.drop_client(1)
    assert service.heaps.used() == 0
    allocator, recorder = service.client(1)
    allocator.get_buffers((cache(1, 2), cache(2, 2)))
    del allocator
    assert service.heaps.used() == 0
    service.clock.advance(10**9)
    assert recorder.events == []


def test_memory_leaves_the_process() -> None:
    def mapped() -> int:
        return Path("/proc/self/maps").read_text().count("/dev/zero")

    service = Service()
    allocator, recorder = service.client()
    gc.collect()
    before, descriptors = mapped(), len(os.listdir("/proc/self/fd"))
    for identifier in range(50):
        allocator.get_buffers((cache(identifier, 1),))
        service.clock.advance(10**9)
        buffer_of(recorder, identifier).map(MIB, 3, 0)
        allocator.put_buffers((identifier,))
    gc.collect()
    assert (mapped(), len(os.listdir("/proc/self/fd"))) == (before, descriptors)


def test_exports_are_reached_as_far_as_their_protection_goes() -> None:
    memory = HostMemory()
    bytes_ = bytearray(b"secret")
    reading, writing, nothing = (memory.export(memoryview(bytes_), protection) for protection in (1, 2, 0))
    assert memory.read(MemoryRead(reading, 1, 3)) == b"ecr"
    memory.write(MemoryWrite(writing, 0, b"S"))
    assert bytes_ == b"Secret"
    for request in (MemoryRead(writing, 0, 1), MemoryRead(nothing, 0, 1)):
        with pytest.raises(SecurityDenied):
            memory.read(request)
    for token in (reading, nothing):
        with pytest.raises(SecurityDenied):
            memory.write(MemoryWrite(token, 0, b"x"))
    memory.detach(Detach(reading))
    assert memory.read(MemoryRead(reading, 0, 1)) == b"S", "clients cannot withdraw what is not theirs"
    memory.withdraw(reading)
    with pytest.raises(IllegalArgument):
        memory.read(MemoryRead(reading, 0, 1))


def test_a_range_outside_a_buffer_is_refused() -> None:
    service = Service()
    allocator, recorder = service.client()
    allocator.get_buffers((cache(1, 1),))
    service.clock.advance(10**9)
    for length, offset in ((MIB + 1, 0), (1, MIB), (MIB, 1)):
        with pytest.raises(ServiceError) as raised:
            buffer_of(recorder, 1).map(length, 1, offset)
        assert raised.value.status == Errno.EINVAL


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
def test_the_reference_passes_twice(isolation: Isolation) -> None:
    subject = open_subject("reference", isolation=isolation)
    try:
        for case in (*CASES.values(), *CASES.values()):
            context = CaseContext(case, subject)
            try:
                case.run(context)
            except CaseEnded as ended:
                assert case.id == "cts.npu_buffers.loading.position_of_the_file", ended  # noqa: PT017
            finally:
                context.close()
    finally:
        subject.close()


def test_a_killed_service_leaves_nothing_and_the_next_has_all() -> None:
    def left() -> list[str]:
        return [name for name in os.listdir("/dev/shm") if name.startswith(f"npu-conformance-run-{os.getpid()}-")]

    subject = open_subject("reference")
    try:
        own = left()
        size = 32 * MIB
        context = CaseContext(next(iter(CASES.values())), subject)
        app = BufferApp(context).supported()
        app.fill(app.allocated(app.request(1, size)), pattern(1, MIB))
        os.kill(subject.process(), signal.SIGKILL)
        with pytest.raises(Crashed):
            app.get(app.request(2))
        context.close()
        subject.restart()
        again = CaseContext(context.case, subject)
        app = BufferApp(again).supported()
        app.allocated(app.request(1, size))
        again.close()
        assert left() == own
    finally:
        subject.close()


def test_each_case_is_needed_by_a_fault_that_breaks_what_it_is_evidence_for() -> None:
    about = [fault for fault in (*npu_buffers.FAULTS, *npu_manager.FAULTS) if set(fault.caught_by) & set(CASES)]
    assert {name for fault in about for name in fault.caught_by} == set(CASES)
    for fault in about:
        assert set(fault.breaks) & set(CASES[fault.caught_by[0]].requirements), fault.id


def test_every_requirement_has_a_case_or_a_reason() -> None:
    named = {requirement for case in CASES.values() for requirement in case.requirements}
    for number in range(1, 16):
        identifier = f"NPU-BUF-{number:03}"
        assert (identifier in named) != bool(requirements.requirement(identifier).untested), identifier


def test_a_load_that_is_preempted_while_its_file_is_read_is_answered_once() -> None:
    service = Service()
    mine, mine_told = service.client(1)
    others, _ = service.client(2)

    class ShortFile:
        """A file that turns out to be too short."""

        def read(self, offset: int, length: int) -> bytes:
            return b""

        def close(self) -> None:
            pass

    class Files:
        """Files whose opening takes so long that another app takes the memory."""

        def open(self, token: int) -> Any:
            others.get_buffers((cache(2, 8, priority=0),))
            return ShortFile()

    mine.client._files = Files()
    mine.get_buffers((cache(1, 8, priority=900),))
    service.clock.advance(10**9)
    mine.load_file_segment_to_buffer(1, FileSegment(CacheHandle((5,)), 0, 16, 0))
    service.clock.advance(10**9)
    assert mine_told.of(1) == [("allocated", 0), ("loaded", Errno.ECANCELED), ("preempted", 0)]


def test_where_the_system_has_no_memory_the_heap_keeps_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service()
    allocator, recorder = service.client()
    with monkeypatch.context() as patch:
        patch.setattr(mmap, "mmap", _no_memory)
        allocator.get_buffers((cache(1, 8),))
        service.clock.advance(10**9)
    allocator.get_buffers((cache(2, 8),))
    service.clock.advance(10**9)
    assert recorder.events == [("allocated", 1, Errno.ENOMEM), ("allocated", 2, 0)]


def _no_memory(*_: object) -> None:
    raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
