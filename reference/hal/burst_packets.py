"""Reads HIDL's burst packets as a driver does, into requests, and writes results as elements."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from npu_conformance.specs.neuralnetworks.burst_packets import (
    ExecutionTiming,
    InputDimension,
    InputOperand,
    MalformedPacketError,
    MeasureTiming,
    OutputDimension,
    OutputOperand,
    PoolIdentifier,
    RequestElement,
    RequestInformation,
    ResultDimension,
    ResultElement,
    ResultInformation,
    ResultOperand,
    unpack_request,
)
from npu_conformance.specs.neuralnetworks.types import DataLocation, OutputShape, RequestArgument, Timing

_Element = TypeVar("_Element", bound=RequestElement)


class PacketRequest(msgspec.Struct, frozen=True):
    """A request whose pools are slots: only the client knows their memory."""

    inputs: tuple[RequestArgument, ...]
    outputs: tuple[RequestArgument, ...]
    slots: tuple[int, ...]
    measure_timing: bool


@functools.lru_cache(maxsize=64)
def read_request(packet: bytes) -> PacketRequest:
    """Read a packet in order. Raises MalformedPacketError at the first element that is missing, wrong or too much.

    Clients of bursts send the same bytes again and again, so that what was read is remembered.
    """
    elements = unpack_request(packet)
    reader = _Reader(elements)
    information = reader.take(RequestInformation)
    if information.packet_size != len(elements):
        raise MalformedPacketError(f"a packet of {len(elements)} elements says {information.packet_size}")
    inputs = tuple(reader.input() for _ in range(information.number_of_inputs))
    outputs = tuple(reader.output() for _ in range(information.number_of_outputs))
    slots = tuple(reader.take(PoolIdentifier).slot for _ in range(information.number_of_pools))
    measure_timing = reader.take(MeasureTiming).value != 0
    reader.end()
    return PacketRequest(inputs, outputs, slots, measure_timing)


class _Reader:
    def __init__(self, elements: Sequence[RequestElement]) -> None:
        self._elements: Iterator[RequestElement] = iter(elements)

    def take(self, kind: type[_Element]) -> _Element:
        element = next(self._elements, None)
        if not isinstance(element, kind):
            raise MalformedPacketError(f"expected {kind.__name__}, found {type(element).__name__}")
        return element

    def input(self) -> RequestArgument:
        operand = self.take(InputOperand)
        sizes = tuple(self.take(InputDimension).size for _ in range(operand.number_of_dimensions))
        return _argument(operand, sizes)

    def output(self) -> RequestArgument:
        operand = self.take(OutputOperand)
        sizes = tuple(self.take(OutputDimension).size for _ in range(operand.number_of_dimensions))
        return _argument(operand, sizes)

    def end(self) -> None:
        if next(self._elements, None) is not None:
            raise MalformedPacketError("there are elements after the last one")


def _argument(operand: InputOperand | OutputOperand, sizes: tuple[int, ...]) -> RequestArgument:
    location = DataLocation(operand.pool_index, operand.offset, operand.length)
    return RequestArgument(operand.has_no_value, location, sizes)


def result_elements(status: int, shapes: Sequence[OutputShape], timing: Timing) -> list[ResultElement]:
    """A result packet: how the execution went, each output, times."""
    operands: list[ResultElement] = []
    for shape in shapes:
        operands.append(ResultOperand(shape.is_sufficient, len(shape.dimensions)))
        operands += [ResultDimension(size) for size in shape.dimensions]
    information = ResultInformation(len(operands) + 2, status, len(shapes))
    return [information, *operands, ExecutionTiming(timing.time_on_device, timing.time_in_driver)]
