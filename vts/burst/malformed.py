"""HIDL's malformed packets: each is answered with an error, and the burst goes on.

Removed, added and exchanged elements are AOSP's ValidateBurst, with its seven elements. The others are what it leaves
out: the same with a packet size that fits, counts that lie, and bytes that are no element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import astuple, replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst_channel import Channel
from npu_conformance.harness.run.executing.burst_packets import failed
from npu_conformance.specs.neuralnetworks.burst_packets import (
    ELEMENT_SIZE,
    InputDimension,
    InputOperand,
    MeasureTiming,
    OutputDimension,
    OutputOperand,
    PoolIdentifier,
    RequestElement,
    RequestInformation,
    RequestPacket,
    pack,
    request_elements,
)
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib.addition import plus
from npu_conformance.vts.lib.burst import PAIRS, burst_fixture

INTRUDERS: RequestPacket = (
    RequestInformation(10, 10, 10, 10),
    InputOperand(False, 0, 0, 0, 10),
    InputDimension(0),
    OutputOperand(False, 0, 0, 0, 10),
    OutputDimension(0),
    PoolIdentifier(2**31 - 1),
    MeasureTiming(1),
)
"""AOSP's seven bad elements."""

_MOST = 2**32 - 1
_DIMENSIONS = (InputDimension, OutputDimension)
Packets = Iterator[tuple[str, bytes]]


def cases() -> Iterator[Case]:
    """One for each way to corrupt a packet."""
    for name, corrupt in _WAYS.items():
        yield _case(name, corrupt)


def _case(name: str, corrupt: Callable[[RequestPacket], Packets]) -> Case:
    def run(context: CaseContext) -> None:
        for measure in (True, False):
            with context.configuration("timed" if measure else "untimed"):
                _expect_each_rejected(context, corrupt, measure)

    requirements = ("NNHAL-BURST-004", "NNHAL-BURST-002", "NNHAL-BURST-005", "NNHAL-ROBUST-003")
    return Case(
        f"vts.burst.malformed.{name}",
        run,
        requirements,
        (corrupt.__doc__ or "").partition("\n")[0],
        since=Version.V1_2,
        until=HIDL_LAST,
        group=Group.VALIDATION,
    )


def _expect_each_rejected(context: CaseContext, corrupt: Callable[[RequestPacket], Packets], measure: bool) -> None:
    fixture = burst_fixture(context)
    channel = Channel(context, fixture.prepared_model)
    fixture.fill(*PAIRS[:2])
    fixture.succeeded(channel.execute(fixture.request(), measure=measure), plus(*PAIRS[:2]), "the packet in order")
    elements = request_elements(fixture.request(), (0,), measure=measure)
    for number, (what, packet) in enumerate(corrupt(elements)):
        failed(channel.exchange(packet), f"a packet with {what}")
        if number % 7 == 0:
            fixture.fill(PAIRS[number % 4], PAIRS[2])
            with checks.about("NNHAL-BURST-005"):
                fixture.succeeded(
                    channel.execute(fixture.request()), plus(PAIRS[number % 4], PAIRS[2]), f"after one with {what}"
                )


def _removed(elements: RequestPacket) -> Packets:
    """An element is missing."""
    for at, element in enumerate(elements):
        yield f"element {at} ({_name(element)}) removed", pack(elements[:at] + elements[at + 1 :])


def _added(elements: RequestPacket) -> Packets:
    """An element of each kind is added at each place."""
    for at in range(len(elements) + 1):
        for intruder in INTRUDERS:
            yield f"{_name(intruder)} added at {at}", pack((*elements[:at], intruder, *elements[at:]))


def _exchanged(elements: RequestPacket) -> Packets:
    """An element of each kind replaces that at each place."""
    for at, element in enumerate(elements):
        for intruder in INTRUDERS:
            if not _is_alike(element, intruder):
                yield f"{_name(intruder)} at {at}", pack((*elements[:at], intruder, *elements[at + 1 :]))


def _is_alike(element: RequestElement, intruder: RequestElement) -> bool:
    """True where the packet may still be one: the same element, a dimension of the same kind, the other timing flag."""
    kind = type(element)
    return element == intruder or (kind is type(intruder) and kind in (*_DIMENSIONS, MeasureTiming))


def _consistent(elements: RequestPacket) -> Packets:
    """An element is missing, repeated or moved, and the packet size fits."""
    for at in range(1, len(elements)):
        yield f"element {at} removed, packet size corrected", pack(_sized(elements[:at] + elements[at + 1 :]))
        yield f"element {at} twice, packet size corrected", pack(_sized((*elements[: at + 1], *elements[at:])))
    for intruder in INTRUDERS:
        yield f"{_name(intruder)} past the end, packet size corrected", pack(_sized((*elements, intruder)))
    yield "its elements reversed", pack((elements[0], *reversed(elements[1:])))
    yield "two requests one behind the other", pack((*elements, *elements))
    yield "two requests as one packet", pack(_sized((*elements, *elements)))


def _sized(elements: RequestPacket) -> RequestPacket:
    head = elements[0]
    assert isinstance(head, RequestInformation)
    return (replace(head, packet_size=len(elements)), *elements[1:])


def _counts(elements: RequestPacket) -> Packets:
    """Sizes and counts are wrong: one less, one more, as large as they can be."""
    head = elements[0]
    assert isinstance(head, RequestInformation)
    for field in ("packet_size", "number_of_inputs", "number_of_outputs", "number_of_pools"):
        for value in (0, getattr(head, field) - 1, getattr(head, field) + 1, 2**31, _MOST):
            if value != getattr(head, field):
                yield f"{field} {value}", pack((replace(head, **{field: value}), *elements[1:]))
    for at, element in enumerate(elements):
        if isinstance(element, InputOperand | OutputOperand):
            for value in (0, element.number_of_dimensions + 1, 2**31, _MOST):
                wrong = replace(element, number_of_dimensions=value)
                yield f"{value} dimensions at {at}", pack((*elements[:at], wrong, *elements[at + 1 :]))


def _bytes(elements: RequestPacket) -> Packets:
    """An element has a discriminator that names no member, or bytes that are all ones."""
    packet = pack(elements)
    for at in range(len(elements)):
        start = at * ELEMENT_SIZE
        for discriminator in (len(INTRUDERS), 127, 255):
            changed = bytes([discriminator]) + packet[start + 1 :]
            yield f"discriminator {discriminator} at {at}", packet[:start] + changed
        yield f"ones at {at}", packet[:start] + b"\xff" * ELEMENT_SIZE + packet[start + ELEMENT_SIZE :]


def _short(elements: RequestPacket) -> Packets:
    """The packet has only its first elements, or a single one."""
    for end in range(1, len(elements)):
        yield f"its first {end} elements", pack(elements[:end])
    for intruder in INTRUDERS:
        yield f"nothing but {_name(intruder)}", pack((intruder,))
    yield "nothing but a packet size of 1", pack((RequestInformation(1, 0, 0, 0),))
    yield "nothing but information and timing", pack((RequestInformation(2, 0, 0, 0), MeasureTiming(0)))


def _other_direction(elements: RequestPacket) -> Packets:
    """An input is described by an element for outputs, or the other way round."""
    counterparts = {InputOperand: OutputOperand, OutputOperand: InputOperand}
    sizes = {InputDimension: OutputDimension, OutputDimension: InputDimension}
    for at, element in enumerate(elements):
        counterpart = (counterparts | sizes).get(type(element))
        if counterpart is not None:
            changed = counterpart(*astuple(element))
            yield (
                f"{_name(changed)} instead of {_name(element)} at {at}",
                pack((*elements[:at], changed, *elements[at + 1 :])),
            )


def _name(element: RequestElement) -> str:
    return type(element).__name__


_WAYS: dict[str, Callable[[RequestPacket], Packets]] = {
    "element_removed": _removed,
    "element_added": _added,
    "element_exchanged": _exchanged,
    "size_corrected": _consistent,
    "other_direction": _other_direction,
    "counts": _counts,
    "bytes": _bytes,
    "short": _short,
}
