"""The bytes of burst packets, by hand, and the queue that they travel through."""

from __future__ import annotations

import struct
import threading
import time

import patience
import pytest

from npu_conformance.specs.neuralnetworks import burst_packets as packets
from npu_conformance.specs.neuralnetworks.message_queue import HEADER, CorruptQueueError, MessageQueue, size_of
from npu_conformance.specs.neuralnetworks.types import DataLocation, Request, RequestArgument

ELEMENTS = {
    packets.RequestInformation(11, 2, 1, 3): "00000000 0b000000 02000000 01000000 03000000 00000000",
    packets.InputOperand(True, 1, 16, 8, 2): "01000000 01000000 01000000 10000000 08000000 02000000",
    packets.InputDimension(0x01020304): "02000000 04030201 00000000 00000000 00000000 00000000",
    packets.OutputOperand(False, 0, 64, 2**32 - 1, 0): "03000000 00000000 00000000 40000000 ffffffff 00000000",
    packets.OutputDimension(7): "04000000 07000000 00000000 00000000 00000000 00000000",
    packets.PoolIdentifier(-2): "05000000 feffffff 00000000 00000000 00000000 00000000",
    packets.MeasureTiming(1): "06000000 01000000 00000000 00000000 00000000 00000000",
    packets.ResultInformation(4, 3, 1): "00000000 00000000 04000000 03000000 01000000 00000000",
    packets.ResultOperand(True, 2): "01000000 00000000 01000000 02000000 00000000 00000000",
    packets.ResultDimension(5): "02000000 00000000 05000000 00000000 00000000 00000000",
    packets.ExecutionTiming(2**64 - 1, 258): "03000000 00000000 ffffffff ffffffff 02010000 00000000",
}
"""As a C compiler lays out FmqRequestDatum (union at 4, alignment 4) and FmqResultDatum (union at 8, alignment 8)."""


@pytest.mark.parametrize("element", ELEMENTS, ids=lambda one: type(one).__name__)
def test_elements_have_the_bytes_of_the_c_structs(element: packets.RequestElement | packets.ResultElement) -> None:
    expected = bytes.fromhex(ELEMENTS[element])
    unpack = packets.unpack_request if isinstance(element, packets.RequestElement) else packets.unpack_result
    assert element.packed() == expected
    assert unpack(expected) == (element,)


def test_a_request_in_order() -> None:
    inputs = (RequestArgument(location=DataLocation(1, 16, 8), dimensions=(2, 1)), RequestArgument(has_no_value=True))
    request = Request(inputs, (RequestArgument(location=DataLocation(0, 64, 4), dimensions=(7,)),), ())
    assert packets.request_elements(request, (5, -2), measure=True) == (
        packets.RequestInformation(10, 2, 1, 2),
        packets.InputOperand(False, 1, 16, 8, 2),
        packets.InputDimension(2),
        packets.InputDimension(1),
        packets.InputOperand(True, 0, 0, 0, 0),
        packets.OutputOperand(False, 0, 64, 4, 1),
        packets.OutputDimension(7),
        packets.PoolIdentifier(5),
        packets.PoolIdentifier(-2),
        packets.MeasureTiming(1),
    )


def test_elements_have_the_bytes_that_a_compiler_gives() -> None:
    request, result = _compiled()
    assert request == packets.InputOperand(True, 1, 16, 8, 2).packed()
    assert result == packets.ResultOperand(True, 2).packed()


def _compiled() -> tuple[bytes, bytes]:
    """The same two elements by ctypes, which follows the platform's rules of alignment."""
    import ctypes

    class Operand(ctypes.Structure):
        _fields_ = (
            ("hasNoValue", ctypes.c_bool),
            ("location", ctypes.c_uint32 * 3),
            ("numberOfDimensions", ctypes.c_uint32),
        )

    class RequestUnion(ctypes.Union):
        _fields_ = (("information", ctypes.c_uint32 * 4), ("operand", Operand), ("slot", ctypes.c_int32))

    class RequestDatum(ctypes.Structure):
        _fields_ = (("discriminator", ctypes.c_uint8), ("union", RequestUnion))

    class Shape(ctypes.Structure):
        _fields_ = (("isSufficient", ctypes.c_bool), ("numberOfDimensions", ctypes.c_uint32))

    class ResultUnion(ctypes.Union):
        _fields_ = (("information", ctypes.c_uint32 * 3), ("operand", Shape), ("timing", ctypes.c_uint64 * 2))

    class ResultDatum(ctypes.Structure):
        _fields_ = (("discriminator", ctypes.c_uint8), ("union", ResultUnion))

    request, result = RequestDatum(1), ResultDatum(1)
    request.union.operand.hasNoValue, request.union.operand.numberOfDimensions = True, 2
    request.union.operand.location[:] = (1, 16, 8)
    result.union.operand.isSufficient, result.union.operand.numberOfDimensions = True, 2
    return bytes(request), bytes(result)


@pytest.mark.parametrize("data", [b"\x07" + bytes(23), b"\xff" * 24, bytes(23), bytes(25)])
def test_what_is_no_request_element_is_malformed(data: bytes) -> None:
    with pytest.raises(packets.MalformedPacketError):
        packets.unpack_request(data)


def test_a_result_has_fewer_members() -> None:
    with pytest.raises(packets.MalformedPacketError, match="discriminator 4"):
        packets.unpack_result(b"\x04" + bytes(23))


def queue(capacity: int, memory: bytearray | None = None) -> MessageQueue:
    return MessageQueue(memoryview(memory or bytearray(size_of(capacity, 2))), capacity, 2)


def test_a_packet_arrives_as_it_was_written_wherever_it_begins() -> None:
    ring = queue(5)
    for turn in range(40):
        packet = bytes(range(turn, turn + 2 * (turn % 5 + 1)))
        assert ring.write(packet)
        assert ring.available() == turn % 5 + 1
        assert ring.read() == packet
        assert ring.available() == 0


def test_what_does_not_fit_is_not_written_at_all() -> None:
    memory = bytearray(size_of(3, 2))
    ring = queue(3, memory)
    assert ring.write(b"aabb")
    before = bytes(memory)
    assert not ring.write(b"ccdd")
    assert bytes(memory) == before
    assert ring.write(b"ee")
    assert ring.read() == b"aabbee"


def test_the_layout_is_the_documented_one() -> None:
    memory = bytearray(size_of(3, 2))
    ring = queue(3, memory)
    assert ring.write(b"aabb")
    assert ring.read() == b"aabb"
    assert ring.write(b"ccdd")
    assert struct.unpack_from("<2Q", memory) == (2, 4)
    assert bytes(memory[16:HEADER]) == bytes(HEADER - 16)
    assert bytes(memory[HEADER:]) == b"ddbbcc"


def test_counters_run_over_64_bits() -> None:
    memory = bytearray(size_of(4, 2))
    memory[:16] = struct.pack("<2Q", 2**64 - 4, 2**64 - 4)
    ring = queue(4, memory)
    assert ring.write(b"aabbccdd")
    assert struct.unpack_from("<2Q", memory) == (2**64 - 4, 0)
    assert ring.read() == b"aabbccdd"


def test_counters_that_lie_are_noticed_and_the_queue_is_empty_then() -> None:
    memory = bytearray(size_of(4, 2))
    memory[:16] = struct.pack("<2Q", 0, 5)
    ring = queue(4, memory)
    with pytest.raises(CorruptQueueError, match="5 elements in a ring of 4"):
        ring.read()
    assert ring.available() == 0


@pytest.mark.parametrize("capacity", [0, -1, 4, 2**32])
def test_a_queue_lies_inside_its_memory(capacity: int) -> None:
    with pytest.raises(ValueError, match="no queue"):
        queue(capacity, bytearray(size_of(3, 2)))


def test_a_queue_needs_memory_that_can_be_written() -> None:
    with pytest.raises(ValueError, match="no queue"):
        MessageQueue(memoryview(bytes(size_of(3, 2))), 3, 2)


@pytest.mark.parametrize("polling", [0.0, 30.0], ids=["sleeping", "polling"])
@pytest.mark.parametrize("knows_the_call", [True, False], ids=["futex", "naps"])
def test_a_reader_gets_what_comes_while_it_waits(
    polling: float, knows_the_call: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = bytearray(size_of(3, 2))
    reader, writer = queue(3, memory), queue(3, memory)
    if not knows_the_call:
        monkeypatch.setattr(reader._futex, "_call", None)
    found: list[bytes] = []

    def read() -> None:
        while sum(map(len, found)) < 100 and reader.wait(patience.SECONDS, polling=polling):
            found.append(reader.read())

    thread = threading.Thread(target=read)
    thread.start()
    for number in range(50):
        while not writer.write(bytes([number, number])):
            time.sleep(0)
    thread.join(patience.SECONDS)
    assert not thread.is_alive()
    assert b"".join(found) == bytes(number for number in range(50) for _ in range(2))


def test_a_writer_that_wakes_late_ends_no_wait_for_the_next_packet() -> None:
    memory = memoryview(bytearray(size_of(3, 1)))
    reader, writer = MessageQueue(memory, 3, 1), MessageQueue(memory, 3, 1)
    is_over = threading.Event()

    def wake_late() -> None:
        for _ in range(100):
            writer.wake()  # as behind a packet that has been taken already
            time.sleep(0.0001)
        assert not is_over.is_set()
        writer.write(b"x")

    thread = threading.Thread(target=wake_late)
    thread.start()
    assert reader.wait(patience.SECONDS)
    is_over.set()
    thread.join()
    assert reader.read() == b"x"


def test_waiting_ends_with_its_time_and_when_woken() -> None:
    ring = queue(3)
    assert not ring.wait(0.01)
    assert not ring.wait(0.01, polling=0.005)
    woken = threading.Event()

    def wait() -> None:
        ring.wait(patience.SECONDS)
        woken.set()

    thread = threading.Thread(target=wait)
    thread.start()
    while not woken.is_set():
        ring.wake()
        woken.wait(0.001)
    thread.join()
