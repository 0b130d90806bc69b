"""HIDL's request packets with edits, and whether they still are packets: what a driver has to make of their bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from npu_conformance.fuzz.lib.burst_steps import PacketEdit
from npu_conformance.specs.neuralnetworks.burst_packets import (
    ELEMENT_SIZE,
    InputDimension,
    InputOperand,
    MalformedPacketError,
    MeasureTiming,
    OutputDimension,
    OutputOperand,
    PoolIdentifier,
    RequestElement,
    RequestInformation,
    pack,
    unpack_request,
)
from npu_conformance.specs.neuralnetworks.types import DataLocation, RequestArgument

_Element = TypeVar("_Element", bound=RequestElement)
_LARGEST = 512
"""Elements of an edited packet: the queue holds more."""


@dataclass(frozen=True)
class Packet:
    """What a packet says."""

    inputs: tuple[RequestArgument, ...]
    outputs: tuple[RequestArgument, ...]
    slots: tuple[int, ...]
    measure: bool


def edited(packet: bytes, edits: Sequence[PacketEdit]) -> bytes:
    """The packet with edits; those without a place do nothing. There is one element at least."""
    for kind, place, value in edits:
        elements = [packet[start : start + ELEMENT_SIZE] for start in range(0, len(packet), ELEMENT_SIZE)]
        if kind in ("drop", "double", "swap", "insert"):
            changed = b"".join(_changed(elements, kind, place % len(elements), value))
        else:
            changed = _bytes(packet, kind, place % len(packet), value)
        packet = changed if 0 < len(changed) <= _LARGEST * ELEMENT_SIZE else packet
    return packet


def _changed(elements: list[bytes], kind: str, place: int, value: int) -> list[bytes]:
    if kind == "drop":
        return elements[:place] + elements[place + 1 :]
    if kind == "double":
        return [*elements[:place], elements[place], *elements[place:]]
    if kind == "insert":
        return [*elements[:place], bytes([value % 7]) + bytes(ELEMENT_SIZE - 1), *elements[place:]]
    other = value % len(elements)
    swapped = list(elements)
    swapped[place], swapped[other] = elements[other], elements[place]
    return swapped


def _bytes(packet: bytes, kind: str, place: int, value: int) -> bytes:
    if kind == "byte":
        return packet[:place] + bytes([value % 256]) + packet[place + 1 :]
    # A queue carries whole elements.
    return packet[: max(place // ELEMENT_SIZE, 1) * ELEMENT_SIZE] if kind == "cut" else packet


def read(packet: bytes) -> Packet | Literal["malformed", "open"]:
    """What a packet says; `open` where unused bytes are not zero, or a truth value is neither 0 nor 1."""
    try:
        elements = unpack_request(packet)
        found = _read(elements)
    except MalformedPacketError:
        return "malformed"
    last = elements[-1]
    is_clean = pack(elements) == packet and isinstance(last, MeasureTiming) and last.value in (0, 1)
    return found if is_clean else "open"


def _read(elements: Sequence[RequestElement]) -> Packet:
    rest = iter(elements)
    head = _next(rest, RequestInformation)
    if head.packet_size != len(elements):
        raise MalformedPacketError("a wrong packet size")
    inputs = tuple(_argument(rest, InputOperand, InputDimension) for _ in range(head.number_of_inputs))
    outputs = tuple(_argument(rest, OutputOperand, OutputDimension) for _ in range(head.number_of_outputs))
    slots = tuple(_next(rest, PoolIdentifier).slot for _ in range(head.number_of_pools))
    measure = _next(rest, MeasureTiming).value != 0
    if next(rest, None) is not None:
        raise MalformedPacketError("elements after the last one")
    return Packet(inputs, outputs, slots, measure)


def _next(rest: Iterator[RequestElement], kind: type[_Element]) -> _Element:
    found = next(rest, None)
    if not isinstance(found, kind):
        raise MalformedPacketError(f"expected {kind.__name__}")
    return found


def _argument(
    rest: Iterator[RequestElement],
    kind: type[InputOperand | OutputOperand],
    dimension: type[InputDimension | OutputDimension],
) -> RequestArgument:
    found = _next(rest, kind)
    sizes = tuple(_next(rest, dimension).size for _ in range(found.number_of_dimensions))
    return RequestArgument(found.has_no_value, DataLocation(found.pool_index, found.offset, found.length), sizes)
