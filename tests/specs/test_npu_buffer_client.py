"""The client library of buffers: cookies, snapshots, states and errors, over the reference manager."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from npu_conformance.harness.wire.memory import HostMemory
from npu_conformance.harness.wire.protocol import MemoryRead
from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.manager import service
from npu_conformance.specs.errors import DeadObject, SecurityDenied, Unsupported
from npu_conformance.specs.neuralnetworks.types import CacheHandle
from npu_conformance.specs.npu.buffer_client import Buffer, Buffers, Request
from npu_conformance.specs.npu.buffers import AllocRequest, BufferType, FileSegment, Protection
from npu_conformance.specs.npu.manager import Manager
from npu_conformance.specs.plugin import Caller, Context, File

MIB = 1 << 20


class Bytes:
    """A file of these bytes."""

    position = 0

    def __init__(self, content: bytes) -> None:
        self.content = content

    def read(self, offset: int, length: int) -> bytes:
        return self.content[offset : offset + length]

    def close(self) -> None:
        pass


class OneFile:
    """Every token is one file."""

    def open(self, token: int) -> File:
        return Bytes(bytes(range(256)) * 64)  # type: ignore[return-value]


class Process:
    """A client process: the library, and what its callbacks and deleters received."""

    def __init__(self, manager: Manager, clock: VirtualClock) -> None:
        self.buffers, self.clock = Buffers(manager), clock
        self.received: list[tuple[Any, ...]] = []
        self.deleted: list[Any] = []
        self.got: list[Buffer] = []

    def request(self, size: int = 4096, priority: int = 500, cookie: Any = "cookie") -> Request:
        request = Request().set(
            device_number=0, buffer_type=BufferType.MODEL_WEIGHTS, size=size, priority=priority, protection=3
        )
        request.set_cookie(cookie, self.deleted.append)
        request.set_on_alloc(self.on_alloc)
        request.on_preempt = lambda value: self.received.append(("preempted", value))
        return request

    def on_alloc(self, cookie: Any, error: int, buffer: Buffer | None) -> None:
        assert (buffer is None) == (error != 0)
        self.received.append(("allocated", cookie, error))
        if buffer is not None:
            self.got.append(buffer)

    def allocated(self, request: Request) -> Buffer:
        self.buffers.alloc_async([request])
        self.clock.advance(10**9)
        return self.got[-1]

    def load(self, buffer: Buffer, length: int = 16) -> None:
        segment = FileSegment(CacheHandle((1,)), 0, length, 0)
        self.buffers.load_async(
            buffer, segment, lambda cookie, error, _: self.received.append(("loaded", cookie, error))
        )


@pytest.fixture
def memory() -> HostMemory:
    return HostMemory()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def manager(memory: HostMemory, clock: VirtualClock) -> Manager:
    context = Context(memory, lambda: Caller(1, 1), clock=clock, files=OneFile(), exports=memory)
    return service.create(context)[0]


@pytest.fixture
def process(manager: Manager, clock: VirtualClock) -> Process:
    return Process(manager, clock)


def test_a_fresh_request_has_the_defaults() -> None:
    wire = Request().wire
    assert (wire.device_number, wire.buffer_type, wire.size, wire.priority) == (-1, 0, 0, 500)
    assert (wire.protection, wire.file_segment) == (Protection.READ, None)
    assert wire == AllocRequest(0)


def test_setters_call_nothing(process: Process) -> None:
    """CtsNpuManagerBufferTest.CreateRequest."""
    process.request().set(size=1).set(priority=0)
    assert (process.received, process.deleted) == ([], [])


def test_a_cookie_is_deleted_once_by_its_own_deleter() -> None:
    """CtsNpuManagerBufferTest.RequestCookieReset."""
    first: list[Any] = []
    second: list[Any] = []
    request = Request()
    request.set_cookie("a", first.append)
    request.set_cookie(None, second.append)
    assert (first, second) == (["a"], [])
    request.free()
    assert (first, second) == (["a"], [None])


def test_a_cookie_without_a_deleter_is_left_alone() -> None:
    deleted: list[Any] = []
    request = Request()
    request.set_cookie(7, None)
    request.set_cookie(8, deleted.append)
    assert deleted == []
    request.set_cookie(9, None)
    request.free()
    assert deleted == [8]


def test_one_cookie_in_two_requests_is_deleted_twice() -> None:
    """CtsNpuManagerBufferTest.RequestCookieReuse."""
    deleted: list[Any] = []
    for request in (Request(), Request()):
        request.set_cookie("shared", deleted.append)
        request.free()
    assert deleted == ["shared", "shared"]


def test_a_cookie_lives_as_long_as_what_was_allocated_with_it(process: Process) -> None:
    request = process.request()
    buffer = process.allocated(request)
    request.free()
    assert process.deleted == []
    process.buffers.free([buffer])
    assert process.deleted == ["cookie"]


def test_a_cookie_of_a_failure_is_deleted_behind_its_callback(process: Process) -> None:
    request = process.request(size=1 << 50)
    request.set_cookie("late", lambda value: process.received.append(("deleted", value)))
    process.buffers.alloc_async([request])
    request.free()
    process.clock.advance(10**9)
    assert process.received == [("allocated", "late", errno.ENOMEM), ("deleted", "late")]


def test_a_snapshot_is_taken(process: Process) -> None:
    request = process.request(size=64)
    process.buffers.alloc_async([request])
    request.set(size=128)
    request.set_cookie("other", process.deleted.append)
    assert process.deleted == [], "the allocation still needs the old one"
    process.clock.advance(10**9)
    assert process.received == [("allocated", "cookie", 0)]
    assert process.got[0].request.size == 64


def test_callbacks_that_must_be_there() -> None:
    with pytest.raises(ValueError, match="onAlloc"):
        Request().set_on_alloc(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="onAlloc"):
        Request().snapshot(1)


def test_without_on_alloc_nothing_is_allocated(process: Process) -> None:
    with pytest.raises(ValueError, match="onAlloc"):
        process.buffers.alloc_async([process.request(), Request()])
    process.clock.advance(10**9)
    assert process.received == []


def test_load_needs_a_callback(process: Process) -> None:
    buffer = process.allocated(process.request())
    with pytest.raises(ValueError, match="onLoad"):
        process.buffers.load_async(buffer, FileSegment(CacheHandle((1,)), 0, 1, 0), None)  # type: ignore[arg-type]


def test_map_read_unmap(process: Process, memory: HostMemory) -> None:
    buffer = process.allocated(process.request())
    process.load(buffer, 16)
    with pytest.raises(OSError, match="LOADING") as raised:
        buffer.map(16, Protection.READ)
    assert raised.value.errno == errno.ENOMEM
    process.clock.advance(10**9)
    mapped = buffer.map(16, Protection.READ)
    assert memory.read(MemoryRead(mapped.token, 0, 16)) == bytes(range(16))
    buffer.unmap(mapped)
    with pytest.raises(OSError, match="no mapping"):
        buffer.unmap(mapped)


def test_mapping_beyond_the_protection(process: Process) -> None:
    buffer = process.allocated(process.request().set(protection=Protection.READ))
    with pytest.raises(OSError, match="exceeds") as raised:
        buffer.map(16, Protection.WRITE)
    assert raised.value.errno == errno.EACCES


def test_only_an_idle_buffer_is_loaded(process: Process) -> None:
    buffer = process.allocated(process.request())
    process.load(buffer)
    process.load(buffer)
    assert process.received[1:] == [("loaded", "cookie", errno.EINVAL)]
    process.clock.advance(10**9)
    assert process.received[2:] == [("loaded", "cookie", 0)]


def test_preemption_while_idle(process: Process) -> None:
    weak = process.allocated(process.request(32 * MIB, priority=1000, cookie="weak"))
    process.allocated(process.request(32 * MIB, priority=0, cookie="strong"))
    assert sorted(process.received[1:]) == [("allocated", "strong", 0), ("preempted", "weak")]
    with pytest.raises(OSError, match="PREEMPTED") as raised:
        weak.map(16, Protection.READ)
    assert raised.value.errno == errno.ENOMEM
    process.buffers.free([weak])


def test_preemption_while_loading(process: Process, manager: Manager, clock: VirtualClock) -> None:
    other = Process(manager, clock)
    weak = process.allocated(process.request(32 * MIB, priority=1000))
    process.load(weak)
    other.allocated(other.request(32 * MIB, priority=0))
    assert process.received[1:] == [("loaded", "cookie", errno.ECANCELED), ("preempted", "cookie")]


def test_preemption_while_allocating(process: Process, manager: Manager, clock: VirtualClock) -> None:
    other = Process(manager, clock)
    request = process.request(32 * MIB, priority=1000)
    process.buffers.alloc_async([request])
    request.free()
    other.allocated(other.request(32 * MIB, priority=0))
    assert process.received == [("allocated", "cookie", errno.ECANCELED), ("preempted", "cookie")]
    assert process.deleted == ["cookie"]


def test_a_preemption_waits_for_the_unmapping(process: Process) -> None:
    buffer = process.allocated(process.request())
    mapped = buffer.map(16, Protection.READ)
    process.buffers.on_notify_preempted(buffer.request.id)
    assert ("preempted", "cookie") not in process.received
    buffer.unmap(mapped)
    process.buffers.on_notify_preempted(buffer.request.id)
    assert process.received.count(("preempted", "cookie")) == 1


def test_freeing_a_list_with_a_stranger(process: Process) -> None:
    buffer = process.allocated(process.request())
    process.buffers.free([buffer])
    second = process.allocated(process.request())
    with pytest.raises(OSError, match="no buffers") as raised:
        process.buffers.free([buffer, second])
    assert raised.value.errno == errno.EINVAL
    assert process.deleted == [], "the requests still hold theirs"


def test_late_callbacks_are_dropped(process: Process) -> None:
    buffer = process.allocated(process.request())
    process.load(buffer)
    process.buffers.free([buffer])
    process.clock.advance(10**9)
    process.buffers.on_notify_preempted(buffer.request.id)
    assert process.received == [("allocated", "cookie", 0)]


def test_set_priority(process: Process) -> None:
    buffer = process.allocated(process.request())
    process.buffers.set_priority(buffer, 1000)
    with pytest.raises(OSError, match="outside") as raised:
        process.buffers.set_priority(buffer, 1001)
    assert raised.value.errno == errno.EINVAL


def test_is_supported(process: Process) -> None:
    unsupported = Request().set(device_number=3, buffer_type=BufferType.CACHE)
    assert process.buffers.is_supported([process.request(), unsupported]) == (True, False)


@pytest.mark.parametrize(
    ("error", "number"),
    [(SecurityDenied("no"), errno.EACCES), (Unsupported("no"), errno.ENOSYS), (DeadObject("gone"), errno.ECONNRESET)],
)
def test_failures_of_a_call_become_errnos(process: Process, error: Exception, number: int) -> None:
    class Refusing(Manager):
        def create_allocator(self, callback: object) -> Any:
            raise error

    with pytest.raises(OSError, match=str(error)) as raised:
        Buffers(Refusing())
    assert raised.value.errno == number


def test_a_call_that_fails_is_told_to_every_request(process: Process) -> None:
    class Dead:
        def get_buffers(self, requests: object) -> None:
            raise DeadObject("the service is gone")

    process.buffers._allocator = Dead()
    process.buffers.alloc_async([process.request(), process.request()])
    assert process.received == [("allocated", "cookie", errno.ECONNRESET)] * 2
