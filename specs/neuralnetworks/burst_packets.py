"""Elements of the packets of HIDL's burst, and their bytes (FmqRequestDatum and FmqResultDatum of 1.2).

Both are safe unions: a discriminator of one byte, then the member, aligned as the strictest member needs it. An element
is 24 bytes in either direction; bytes without a name are zero. Numbers are little-endian.

| request: bytes 0, 1 to 3 | discriminator, zero |
| --- | --- |
| 0 packet information | 4 packet size, 8 number of inputs, 12 number of outputs, 16 number of pools; uint32 each |
| 1 input operand, 3 output operand | 4 has no value (one byte), 8 pool index, 12 offset, 16 length, 20 dimensions |
| 2 input dimension, 4 output dimension | 4 size, uint32 |
| 5 pool identifier | 4 memory slot, int32 |
| 6 measure timing | 4 MeasureTiming, int32: 0 no, 1 yes |

| result: bytes 0, 1 to 7 | discriminator, zero |
| --- | --- |
| 0 packet information | 8 packet size, 12 ErrorStatus (int32), 16 number of operands |
| 1 operand | 8 is sufficient (one byte), 12 number of dimensions |
| 2 dimension | 8 size, uint32 |
| 3 execution timing | 8 time on device, 16 time in driver; uint64 each |

A request is packet information, each input with its dimensions, each output with its dimensions, each pool identifier,
measure timing (NNHAL-BURST-002). A result is packet information, each output with its dimensions, execution timing
(NNHAL-BURST-003). The packet size counts elements, the packet information included.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, TypeVar

import msgspec
from msgspec.structs import astuple

from npu_conformance.specs.neuralnetworks.types import Request, RequestArgument

ELEMENT_SIZE = 24
"""Bytes of one element, in both directions."""


class MalformedPacketError(Exception):
    """Bytes that are no packet."""


class _Element(msgspec.Struct, frozen=True):
    """A member of a safe union. payload: layout of its fields, with the discriminator in front."""

    discriminator: ClassVar[int]
    layout: ClassVar[struct.Struct]

    def packed(self) -> bytes:
        """The 24 bytes of the element. Raises struct.error for a number that does not fit its field."""
        return self.layout.pack(self.discriminator, *astuple(self)).ljust(ELEMENT_SIZE, b"\0")


class RequestElement(_Element, frozen=True):
    """A member of FmqRequestDatum."""


class ResultElement(_Element, frozen=True):
    """A member of FmqResultDatum."""


class RequestInformation(RequestElement, frozen=True):
    """packetInformation of a request."""

    packet_size: int
    number_of_inputs: int
    number_of_outputs: int
    number_of_pools: int
    discriminator, layout = 0, struct.Struct("<B3x4I")


class InputOperand(RequestElement, frozen=True):
    """inputOperandInformation: its location in bytes, and how many dimensions follow."""

    has_no_value: bool
    pool_index: int
    offset: int
    length: int
    number_of_dimensions: int
    discriminator, layout = 1, struct.Struct("<B3x?3x4I")


class InputDimension(RequestElement, frozen=True):
    """inputOperandDimensionValue."""

    size: int
    discriminator, layout = 2, struct.Struct("<B3xI")


class OutputOperand(RequestElement, frozen=True):
    """outputOperandInformation."""

    has_no_value: bool
    pool_index: int
    offset: int
    length: int
    number_of_dimensions: int
    discriminator, layout = 3, struct.Struct("<B3x?3x4I")


class OutputDimension(RequestElement, frozen=True):
    """outputOperandDimensionValue."""

    size: int
    discriminator, layout = 4, struct.Struct("<B3xI")


class PoolIdentifier(RequestElement, frozen=True):
    """poolIdentifier: the client's memory slot."""

    slot: int
    discriminator, layout = 5, struct.Struct("<B3xi")


class MeasureTiming(RequestElement, frozen=True):
    """measureTiming: 0 no, 1 yes."""

    value: int
    discriminator, layout = 6, struct.Struct("<B3xi")


class ResultInformation(ResultElement, frozen=True):
    """packetInformation of a result. status: an ErrorStatus."""

    packet_size: int
    status: int
    number_of_operands: int
    discriminator, layout = 0, struct.Struct("<B7xIiI")


class ResultOperand(ResultElement, frozen=True):
    """operandInformation."""

    is_sufficient: bool
    number_of_dimensions: int
    discriminator, layout = 1, struct.Struct("<B7x?3xI")


class ResultDimension(ResultElement, frozen=True):
    """operandDimensionValue."""

    size: int
    discriminator, layout = 2, struct.Struct("<B7xI")


class ExecutionTiming(ResultElement, frozen=True):
    """executionTiming, in microseconds, UINT64_MAX for unavailable."""

    time_on_device: int
    time_in_driver: int
    discriminator, layout = 3, struct.Struct("<B7x2Q")


_Member = TypeVar("_Member", bound=_Element)

_REQUEST: tuple[type[RequestElement], ...] = (
    RequestInformation, InputOperand, InputDimension, OutputOperand, OutputDimension, PoolIdentifier, MeasureTiming,
)  # fmt: skip
_RESULT: tuple[type[ResultElement], ...] = (ResultInformation, ResultOperand, ResultDimension, ExecutionTiming)


RequestPacket = tuple[RequestElement, ...]
"""Elements in the order in which they travel; of a packet that a test corrupts in any order."""


def request_elements(request: Request, slots: Sequence[int], *, measure: bool) -> RequestPacket:
    """A request packet in order (NNHAL-BURST-002). slots: one for each pool of the request."""
    inputs = [element for argument in request.inputs for element in _input(argument)]
    outputs = [element for argument in request.outputs for element in _output(argument)]
    body = (*inputs, *outputs, *(PoolIdentifier(slot) for slot in slots), MeasureTiming(int(measure)))
    counts = (len(request.inputs), len(request.outputs), len(slots))
    return (RequestInformation(len(body) + 1, *counts), *body)


def _input(argument: RequestArgument) -> Iterator[RequestElement]:
    place = argument.location
    rank = len(argument.dimensions)
    yield InputOperand(argument.has_no_value, place.pool_index, place.offset, place.length, rank)
    yield from (InputDimension(size) for size in argument.dimensions)


def _output(argument: RequestArgument) -> Iterator[RequestElement]:
    place = argument.location
    rank = len(argument.dimensions)
    yield OutputOperand(argument.has_no_value, place.pool_index, place.offset, place.length, rank)
    yield from (OutputDimension(size) for size in argument.dimensions)


def pack(elements: Iterable[RequestElement] | Iterable[ResultElement]) -> bytes:
    """The bytes of a packet."""
    return b"".join(element.packed() for element in elements)


def unpack_request(data: bytes) -> tuple[RequestElement, ...]:
    """The elements of a request packet, whatever their order. Raises MalformedPacketError for an unknown one."""
    return tuple(_unpack(_REQUEST, element) for element in _split(data))


def unpack_result(data: bytes) -> tuple[ResultElement, ...]:
    """The elements of a result packet, whatever their order. Raises MalformedPacketError for an unknown one."""
    return tuple(_unpack(_RESULT, element) for element in _split(data))


def _split(data: bytes) -> list[bytes]:
    if len(data) % ELEMENT_SIZE:
        raise MalformedPacketError(f"{len(data)} bytes are no whole number of elements of {ELEMENT_SIZE}")
    return [data[start : start + ELEMENT_SIZE] for start in range(0, len(data), ELEMENT_SIZE)]


def _unpack(members: tuple[type[_Member], ...], data: bytes) -> _Member:
    if data[0] >= len(members):
        raise MalformedPacketError(f"discriminator {data[0]} is not known")
    member = members[data[0]]
    return member(*member.layout.unpack_from(data)[1:])
