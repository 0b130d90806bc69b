"""HIDL's valid packets of every form, one after the other, around the ring, and after pauses."""

from __future__ import annotations

import time

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst_channel import Channel, SlotTable
from npu_conformance.harness.run.executing.burst_packets import failed, read_result
from npu_conformance.harness.run.executing.execution import Execution, timing_rules
from npu_conformance.specs.neuralnetworks.burst_packets import (
    ELEMENT_SIZE,
    ResultInformation,
    pack,
    request_elements,
    unpack_result,
)
from npu_conformance.specs.neuralnetworks.types import Request
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib.addition import plus
from npu_conformance.vts.lib.burst import PAIRS, BurstFixture, burst_fixture

cases = CaseGroup("vts.burst", group=Group.EXECUTION)

_PAUSES = (0.001, 0.02, 0.1)
_MOMENT = 0.02
"""How long a result that must not come is waited for."""


@cases.case(
    "packet.valid", "NNHAL-BURST-002", "NNHAL-BURST-003", since=Version.V1_2, until=HIDL_LAST, scope=Scope.SMOKE
)
def valid(context: CaseContext) -> None:
    """Requests of every form are executed: with and without dimensions, in one pool and in several, timed and not."""
    fixture = burst_fixture(context)
    channel = Channel(context, fixture.prepared_model)
    for name, request in _forms(fixture).items():
        for measure in (False, True):
            with context.configuration(f"{name}.{'timed' if measure else 'untimed'}"):
                fixture.fill(*PAIRS[:2])
                with checks.about("NNHAL-BURST-003"):
                    execution = channel.execute(request, measure=measure)
                fixture.succeeded(execution, plus(*PAIRS[:2]), f"a packet: {name.replace('_', ' ')}")
                timing_rules(context, execution, measured=measure)


def _forms(fixture: BurstFixture) -> dict[str, Request]:
    request = fixture.request()
    bare = tuple(replace(argument, dimensions=()) for argument in request.inputs)
    places = (*request.inputs, *request.outputs)
    apart = tuple(replace(one, location=replace(one.location, pool_index=at)) for at, one in enumerate(places))
    return {
        "with_dimensions": request,
        "without_dimensions": replace(
            request, inputs=bare, outputs=tuple(replace(one, dimensions=()) for one in request.outputs)
        ),
        "mixed_dimensions": replace(request, inputs=(bare[0], request.inputs[1])),
        "three_pools": replace(request, inputs=apart[:2], outputs=apart[2:], pools=request.pools * 3),
        "unused_pool": replace(request, pools=request.pools * 2),
    }


@cases.case("packet.form_of_1_3", "NNHAL-BURST-019", since=Version.V1_3, until=Version.V1_3)
def form_of_1_3(context: CaseContext) -> None:
    """HAL 1.3 has no burst of its own: packets are those of 1.2, without deadline, loop timeout and device memory."""
    fixture = burst_fixture(context)
    channel = Channel(context, fixture.prepared_model)
    fixture.fill(*PAIRS[1:3])
    fixture.succeeded(channel.execute(fixture.request()), plus(*PAIRS[1:3]), "a packet of 1.2 at 1.3")
    checks.that(bool(channel.slots.asked), "getMemories: expected a call for the slots of the packet, found none")


@cases.case("packet.half", "NNHAL-BURST-008", "NNHAL-BURST-004", "NNHAL-BURST-005", since=Version.V1_2, until=HIDL_LAST)
def half(context: CaseContext) -> None:
    """A packet that is written in two halves is two malformed packets, not one request."""
    fixture = burst_fixture(context)
    channel = Channel(context, fixture.prepared_model)
    channel.slots.memories[0] = fixture.pool.memory
    elements = request_elements(fixture.request(), (0,), measure=False)
    for end in (1, len(elements) // 2, len(elements) - 1):
        with context.configuration(f"after_{end}"):
            fixture.fill(*PAIRS[:2])
            before = fixture.pool.read(32, 8)
            for part in (elements[:end], elements[end:]):
                channel.write(pack(part))
                failed(channel.read(), f"{len(part)} of {len(elements)} elements written by themselves")
            checks.equal(fixture.pool.read(32, 8), before, "output memory, after two halves of a packet")
            with checks.about("NNHAL-BURST-005"):
                what = "a whole packet after two halves"
                fixture.succeeded(channel.execute(fixture.request()), plus(*PAIRS[:2]), what)


@cases.case("ring.wraps_around", "NNHAL-BURST-008", "NNHAL-BURST-005", since=Version.V1_2, until=HIDL_LAST)
def wraps_around(context: CaseContext) -> None:
    """In queues hardly longer than a packet, packets may begin anywhere in the ring and run over its end."""
    fixture = burst_fixture(context)
    length = len(request_elements(fixture.request(), (0,), measure=False))
    for spare in (0, 1, 2):
        with context.configuration(f"spare_{spare}"):
            channel = Channel(
                context, fixture.prepared_model, request_capacity=length + spare, result_capacity=5 + spare
            )
            for turn in range(2 * (length + spare)):
                channel.litter()
                first, second = PAIRS[turn % 4], PAIRS[(turn + 1) % 4]
                fixture.fill(first, second)
                execution = channel.execute(fixture.request(), measure=bool(turn % 3))
                fixture.succeeded(execution, plus(first, second), f"packet {turn} around the ring")


@cases.case("ring.after_a_pause", "NNHAL-BURST-005", since=Version.V1_2, until=HIDL_LAST)
def after_a_pause(context: CaseContext) -> None:
    """A packet is also answered when the driver has stopped polling and sleeps."""
    fixture = burst_fixture(context)
    channel = Channel(context, fixture.prepared_model)
    for pause in (0.0, *_PAUSES):
        time.sleep(pause)
        fixture.fill(*PAIRS[:2])
        fixture.succeeded(channel.execute(fixture.request()), plus(*PAIRS[:2]), f"a packet after {pause:g} s")


@cases.case("order.one_at_a_time", "NNHAL-BURST-016", since=Version.V1_2, until=HIDL_LAST)
def one_at_a_time(context: CaseContext) -> None:
    """A packet that comes while another one is under way waits for its turn, even a malformed one."""
    fixture, slots = burst_fixture(context), SlotTable()
    channel = Channel(context, fixture.prepared_model, slots=slots)
    channel.requests  # noqa: B018 - without queues there is nothing to see
    elements = request_elements(fixture.request(), (2,), measure=False)
    early: list[bool] = []

    def write_another() -> None:
        slots.meanwhile = lambda: None
        channel.write(pack(elements[:-1]))
        early.append(channel.results.wait(_MOMENT))

    slots.meanwhile = write_another
    fixture.fill(*PAIRS[1:3])
    slots.memories[2] = fixture.pool.memory
    channel.write(pack(elements))
    first, second = _two_results(channel)
    checks.equal(early, [False], "results while the first packet waits for its memory")
    fixture.succeeded(first, plus(*PAIRS[1:3]), "the first packet")
    failed(second, "the malformed packet that had to wait")


def _two_results(channel: Channel) -> list[Execution]:
    """Two results, whether they come together or one after the other."""
    data = b""
    found: list[Execution] = []
    while len(found) < 2:
        data = data or channel.read_bytes()
        (head,) = unpack_result(data[:ELEMENT_SIZE])
        checks.that(isinstance(head, ResultInformation), f"result packet: expected its information, found {head}")
        length = ELEMENT_SIZE * getattr(head, "packet_size", 0)
        found.append(read_result(data[:length]))
        data = data[length:]
    return found
