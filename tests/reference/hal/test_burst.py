"""What a burst of the reference holds, and when it releases that: threads, mapped memory, the idle watchdog."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest
from patience import SECONDS, eventually

from npu_conformance.adapters.reference import plugin
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.reference.hal import burst
from npu_conformance.reference.hal.burst import PacketServer, QueueReader
from npu_conformance.reference.hal.memory_cache import IDLE_NS, MemoryCache, Watchdog
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.burst_packets import (
    ELEMENT_SIZE,
    ResultInformation,
    pack,
    request_elements,
    unpack_result,
)
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.message_queue import MessageQueue, size_of
from npu_conformance.specs.plugin import Caller, Context
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition

CAPACITY = 64


class Memory:
    """Pools in this process. mapped: how often each was mapped."""

    def __init__(self) -> None:
        self.pools: dict[int, bytearray] = {}
        self.mapped: dict[int, int] = {}

    def create(self, size: int) -> types.Memory:
        token = len(self.pools) + 1
        self.pools[token] = bytearray(size)
        return types.Memory("ashmem", size, token)

    def map(self, memory: types.Memory) -> memoryview:
        self.mapped[memory.token] = self.mapped.get(memory.token, 0) + 1
        return memoryview(self.pools[memory.token])


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0

    def now_ns(self) -> int:
        return self.now


class Slots(hal.BurstCallback):
    """The client's table of slots."""

    def __init__(self, memories: dict[int, types.Memory]) -> None:
        self.memories, self.asked = memories, 0

    def get_memories(self, slots: tuple[int, ...]) -> tuple[types.Memory, ...]:
        self.asked += 1
        return tuple(self.memories[slot] for slot in slots)


class Prepared(hal.PreparedModelCallback):
    """Keeps the prepared model."""

    def notify(self, status: int, prepared_model: hal.PreparedModel | None) -> None:
        self.model = prepared_model


class BurstFixture:
    """A prepared addition, and a client with memory for it."""

    def __init__(self, version: Version) -> None:
        self.memory, self.clock = Memory(), Clock()
        context = Context(self.memory, lambda: Caller(0, 0), {"hal": version.value}, self.clock)
        device, callback = plugin.create(context).device, Prepared()
        assert device is not None
        device.prepare_model(addition.model(), 1, 1, version.unavailable_time, (), (), bytes(32), callback)
        assert callback.model is not None
        self.model = callback.model
        self.pool = self.memory.create(64)
        arguments = [types.RequestArgument(location=types.DataLocation(0, offset, 8)) for offset in (0, 16, 32)]
        pools = (types.RequestMemoryPool(pool=self.pool),)
        self.request = types.Request(tuple(arguments[:2]), tuple(arguments[2:]), pools)
        self.slots = Slots({0: self.pool})

    def fill(self) -> None:
        content = self.memory.pools[self.pool.token]
        content[:] = addition.packed(addition.A) + bytes(8) + addition.packed(addition.B) + bytes(40)

    def result(self) -> tuple[float, ...]:
        return addition.unpacked(bytes(self.memory.pools[self.pool.token][32:40]))

    def open(self) -> tuple[hal.BurstContext, MessageQueue, MessageQueue]:
        memories = [self.memory.create(size_of(CAPACITY, ELEMENT_SIZE)) for _ in range(2)]
        descriptors = [types.QueueDescriptor(CAPACITY, memory) for memory in memories]
        context = self.model.configure_execution_burst_on_queues(self.slots, *descriptors)
        ends = [MessageQueue(self.memory.map(memory), CAPACITY, ELEMENT_SIZE) for memory in memories]
        return context, ends[0], ends[1]

    def packet(self) -> bytes:
        return pack(request_elements(self.request, (0,), measure=False))


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "burst"]


@pytest.fixture(autouse=True)
def _nothing_of_others() -> None:
    """Readers of earlier tests may take a moment to end."""
    eventually(lambda: not readers())


def status_of(packet: bytes) -> int:
    head = unpack_result(packet)[0]
    assert isinstance(head, ResultInformation)
    return head.status


def test_a_burst_answers_until_its_client_lets_go_and_then_holds_nothing() -> None:
    fixture = BurstFixture(Version.V1_2)
    before = len(readers())
    context, requests, results = fixture.open()
    fixture.fill()
    assert requests.write(fixture.packet())
    assert results.wait(SECONDS)
    assert status_of(results.read()) == ErrorStatus.NONE
    assert fixture.result() == addition.SUM
    assert len(readers()) == before + 1
    slots = weakref.ref(fixture.slots)
    fixture.slots = Slots({})
    del context
    eventually(lambda: len(readers()) == before and slots() is None)


def test_a_burst_that_has_ended_touches_its_queues_no_more() -> None:
    fixture = BurstFixture(Version.V1_3)
    context, requests, results = fixture.open()
    del context
    gc.collect()
    assert requests.write(fixture.packet())
    eventually(lambda: not readers())
    assert (requests.available(), results.available()) == (len(fixture.packet()) // ELEMENT_SIZE, 0)


def test_a_burst_ends_with_its_client() -> None:
    subject, before = open_subject("reference", isolation="inprocess", version=Version.V1_3), len(readers())
    client, callback = subject.application(10001), Prepared()
    assert client.interfaces.device is not None
    client.interfaces.device.prepare_model(addition.model(), 1, 1, 2**64 - 1, (), (), bytes(32), callback)
    assert callback.model is not None
    pools = [client.memory.create("ashmem", size_of(CAPACITY, ELEMENT_SIZE)) for _ in range(2)]
    queues = [types.QueueDescriptor(CAPACITY, pool.memory) for pool in pools]
    context = callback.model.configure_execution_burst_on_queues(Slots({}), *queues)
    assert len(readers()) == before + 1
    client.close()
    eventually(lambda: len(readers()) == before)
    del context
    subject.close()


@pytest.mark.parametrize("polling", [0.0, 10.0], ids=["sleeping", "polling"])
def test_both_kinds_of_reader_answer(polling: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(burst, "POLLING_SECONDS", polling)
    fixture = BurstFixture(Version.V1_2)
    context, requests, results = fixture.open()
    for _ in range(20):
        fixture.fill()
        assert requests.write(fixture.packet())
        assert results.wait(SECONDS)
        assert status_of(results.read()) == ErrorStatus.NONE
        assert fixture.result() == addition.SUM
    context.free_memory(0)


def test_a_client_that_corrupts_a_queue_gets_an_error_or_nothing_and_then_service() -> None:
    fixture = BurstFixture(Version.V1_2)
    context, requests, results = fixture.open()
    requests._counters[1] = 10**6
    requests.wake()
    assert results.wait(SECONDS)
    assert status_of(results.read()) == ErrorStatus.GENERAL_FAILURE
    results._counters[1] += 10**6
    assert requests.write(fixture.packet())
    eventually(lambda: requests.available() == 0)
    results._counters[0] = results._counters[1]

    def answered() -> bool:
        assert requests.write(fixture.packet())
        assert results.wait(SECONDS)
        return status_of(results.read()) == ErrorStatus.NONE

    eventually(answered)
    context.free_memory(0)


def test_slots_are_mapped_once_and_again_after_they_were_freed() -> None:
    fixture = BurstFixture(Version.V1_2)
    server = PacketServer(fixture.model._prepared, fixture.slots)  # type: ignore[attr-defined]
    for _ in range(3):
        assert status_of(server.answer(fixture.packet(), CAPACITY)) == ErrorStatus.NONE
    assert (fixture.slots.asked, fixture.memory.mapped[fixture.pool.token]) == (1, 1)
    server.cache.forget(0)
    assert status_of(server.answer(fixture.packet(), CAPACITY)) == ErrorStatus.NONE
    assert (fixture.slots.asked, fixture.memory.mapped[fixture.pool.token]) == (2, 2)


def test_tokens_are_mapped_once_and_again_after_a_release() -> None:
    fixture = BurstFixture(Version.FL8)
    opened = fixture.model.configure_execution_burst()
    for _ in range(3):
        opened.execute_synchronously(fixture.request, (4,), False, -1, -1)
    assert fixture.memory.mapped[fixture.pool.token] == 1
    opened.release_memory_resource(4)
    opened.execute_synchronously(fixture.request, (4,), False, -1, -1)
    assert fixture.memory.mapped[fixture.pool.token] == 2
    opened.release_memory_resource(4)
    for _ in range(2):
        opened.execute_synchronously(fixture.request, (-1,), False, -1, -1)
    assert fixture.memory.mapped[fixture.pool.token] == 4


def test_an_aidl_burst_executes_one_request_at_a_time() -> None:
    fixture = BurstFixture(Version.FL8)
    opened = fixture.model.configure_execution_burst()
    assert isinstance(opened, burst.ReferenceBurst)
    with opened._running, pytest.raises(ServiceError) as refused:
        opened.execute_synchronously(fixture.request, (0,), False, -1, -1)
    assert refused.value.status == ErrorStatus.GENERAL_FAILURE
    opened.execute_synchronously(fixture.request, (0,), False, -1, -1)


def test_idle_memory_is_released_after_a_while_and_not_before() -> None:
    memory, clock = Memory(), Clock()
    cache, pool = MemoryCache(memory, clock, Watchdog(patrol_seconds=3600)), memory.create(8)
    cache.keep(1, pool)
    clock.now = IDLE_NS - 1
    cache.release_idle()
    cache.keep(1, pool)
    clock.now = 2 * IDLE_NS - 2
    cache.release_idle()
    assert len(cache) == 1
    clock.now += 1
    cache.release_idle()
    assert len(cache) == 0


def test_the_watchdog_comes_with_the_first_memory_and_goes_with_the_last() -> None:
    memory, clock, watchdog = Memory(), Clock(), Watchdog(patrol_seconds=0.001)
    caches = [MemoryCache(memory, clock, watchdog) for _ in range(2)]
    for _ in range(2):
        for cache in caches:
            cache.keep(1, memory.create(8))
        thread: Any = watchdog._thread
        assert thread.is_alive()
        caches[0].close()
        clock.now += IDLE_NS
        eventually(lambda thread=thread: not thread.is_alive() and len(caches[1]) == 0)  # type: ignore[misc]


def test_a_burst_works_after_the_watchdog_was_there() -> None:
    fixture = BurstFixture(Version.V1_3)
    server = PacketServer(fixture.model._prepared, fixture.slots)  # type: ignore[attr-defined]
    for _ in range(3):
        fixture.fill()
        assert status_of(server.answer(fixture.packet(), CAPACITY)) == ErrorStatus.NONE
        assert fixture.result() == addition.SUM
        fixture.clock.now += IDLE_NS
        server.cache.release_idle()
    assert fixture.slots.asked == 3
    server.cache.close()


def test_stop_is_safe_to_call_twice() -> None:
    fixture = BurstFixture(Version.V1_2)
    ends = [MessageQueue(memoryview(bytearray(size_of(8, ELEMENT_SIZE))), 8, ELEMENT_SIZE) for _ in range(2)]
    reader = QueueReader(PacketServer(fixture.model._prepared, fixture.slots), *ends)  # type: ignore[attr-defined]
    reader.thread.start()
    reader.stop()
    reader.stop()
    reader.thread.join(SECONDS)
    assert not reader.thread.is_alive()


def test_a_packet_that_breaks_the_driver_is_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(self: PacketServer, packet: bytes, room: int) -> bytes:
        raise ValueError("an engine that is broken")

    fixture = BurstFixture(Version.V1_2)
    context, requests, results = fixture.open()
    monkeypatch.setattr(PacketServer, "answer", broken)
    for _ in range(2):
        assert requests.write(fixture.packet())
        assert results.wait(SECONDS)
        assert status_of(results.read()) == ErrorStatus.GENERAL_FAILURE
    context.free_memory(0)
    assert "an engine that is broken" in capsys.readouterr().err


def test_a_burst_may_be_collected_while_its_own_thread_holds_a_lock() -> None:
    fixture = BurstFixture(Version.V1_2)
    server = PacketServer(fixture.model._prepared, fixture.slots)  # type: ignore[attr-defined]
    queue = MessageQueue(memoryview(bytearray(size_of(CAPACITY, ELEMENT_SIZE))), CAPACITY, ELEMENT_SIZE)
    reader = QueueReader(server, queue, queue)

    def collect() -> None:
        with reader._touching, server.cache._lock:
            reader.stop()

    thread = threading.Thread(target=collect, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert not thread.is_alive()
