"""HIDL's memory slots: fetched where they are not known, forgotten where the client says so."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst_channel import Channel, SlotTable
from npu_conformance.harness.run.executing.burst_packets import failed
from npu_conformance.specs.neuralnetworks.burst_packets import request_elements
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib.addition import plus
from npu_conformance.vts.lib.burst import PAIRS, burst_fixture

cases = CaseGroup("vts.burst", group=Group.EXECUTION)

_UNKNOWN = 2**31 - 1
_NAMES = (5, 70_000, 2**31 - 2)


@cases.case("slots.asked_for", "NNHAL-BURST-009", since=Version.V1_2, until=HIDL_LAST)
def asked_for(context: CaseContext) -> None:
    """Slots are asked for by the names that the packet gives them, before they are used, and no others."""
    fixture = burst_fixture(context)
    channel = Channel(context, fixture.prepared_model)
    pools = [fixture.another_pool() for _ in _NAMES]
    for turn in range(2):
        for name, pool in zip(_NAMES, pools, strict=True):
            fixture.fill(PAIRS[turn], PAIRS[2], pool)
            execution = channel.execute(fixture.request(pool), (name,))
            fixture.succeeded(execution, plus(PAIRS[turn], PAIRS[2]), f"slot {name}, turn {turn}", pool)
            asked = {slot for call in channel.slots.asked for slot in call}
            if turn == 0:
                checks.that(name in asked, f"getMemories: expected slot {name} to be asked for, found {asked}")
            checks.that(asked <= set(_NAMES), f"getMemories: expected slots of packets only, found {asked}")


@cases.case("slots.twice_in_a_packet", "NNHAL-BURST-009", since=Version.V1_2, until=HIDL_LAST)
def twice_in_a_packet(context: CaseContext) -> None:
    """One slot may stand for two pools of a request, with a pool of another slot between them."""
    fixture = burst_fixture(context)
    channel, other = Channel(context, fixture.prepared_model), fixture.another_pool()
    first, second, output = *fixture.request().inputs, *fixture.request().outputs
    request = replace(
        fixture.request(),
        inputs=(first, replace(second, location=replace(second.location, pool_index=1))),
        outputs=(replace(output, location=replace(output.location, pool_index=2)),),
        pools=(*fixture.request().pools, *fixture.request(other).pools, *fixture.request().pools),
    )
    for turn in range(2):
        fixture.fill(PAIRS[turn], PAIRS[3])
        fixture.fill(PAIRS[3], PAIRS[turn + 1], other)
        execution = channel.execute(request, (8, 9, 8))
        fixture.succeeded(execution, plus(PAIRS[turn], PAIRS[turn + 1]), f"slots 8, 9, 8 in turn {turn}")


@cases.case("slots.in_any_order", "NNHAL-BURST-009", since=Version.V1_2, until=HIDL_LAST)
def in_any_order(context: CaseContext) -> None:
    """Slots of one packet that are all unknown, or some of them, stand for their own memory in whatever order."""
    fixture = burst_fixture(context)
    channel, second, third = Channel(context, fixture.prepared_model), fixture.another_pool(), fixture.another_pool()
    request = fixture.request()
    first_input, second_input, output = *request.inputs, *request.outputs
    request = replace(
        request,
        inputs=(first_input, replace(second_input, location=replace(second_input.location, pool_index=1))),
        outputs=(replace(output, location=replace(output.location, pool_index=2)),),
        pools=(*request.pools, *fixture.request(second).pools, *fixture.request(third).pools),
    )
    for turn, names in enumerate(((9, 2, 5), (1, 2, 0), (7, 8, 6))):
        fixture.fill(PAIRS[turn], PAIRS[3])
        fixture.fill(PAIRS[3], PAIRS[turn + 1], second)
        fixture.fill(PAIRS[3], PAIRS[3], third)
        fixture.succeeded(channel.execute(request, names), plus(PAIRS[turn], PAIRS[turn + 1]), f"slots {names}", third)


@cases.case("slots.new_contents", "NNHAL-BURST-017", "NNHAL-BURST-009", since=Version.V1_2, until=HIDL_LAST)
def new_contents(context: CaseContext) -> None:
    """A driver keeps where the memory of a slot is, not what is in it."""
    fixture = burst_fixture(context)
    channel = Channel(context, fixture.prepared_model)
    for turn in range(4):
        fixture.fill(PAIRS[turn], PAIRS[0])
        fixture.succeeded(
            channel.execute(fixture.request()), plus(PAIRS[turn], PAIRS[0]), f"contents {turn} of one slot"
        )


@cases.case("slots.freed_then_another", "NNHAL-BURST-009", "NNHAL-BURST-017", since=Version.V1_2, until=HIDL_LAST)
def freed_then_another(context: CaseContext) -> None:
    """A slot that was freed means new memory from then on: the driver asks again, whatever the slot's name."""
    fixture = burst_fixture(context)
    channel = Channel(context, fixture.prepared_model)
    pools = [fixture.pool, fixture.another_pool(), fixture.pool, fixture.another_pool()]
    for slot in (4, 0, *_NAMES):
        for turn, pool in enumerate(pools):
            for one in pools:
                fixture.fill(PAIRS[turn - 1], PAIRS[turn - 1], one)
            fixture.fill(PAIRS[turn], PAIRS[0], pool)
            before = len(channel.slots.asked)
            execution = channel.execute(fixture.request(pool), (slot,))
            fixture.succeeded(execution, plus(PAIRS[turn], PAIRS[0]), f"memory {turn} of slot {slot}", pool)
            asked = len(channel.slots.asked) > before
            checks.that(asked, f"getMemories: expected a call for memory {turn} of slot {slot}")
            _free(channel, (slot,))


@cases.case("slots.one_memory_of_two", "NNHAL-BURST-009", "NNHAL-BURST-017", since=Version.V1_2, until=HIDL_LAST)
def one_memory_of_two(context: CaseContext) -> None:
    """One memory may be that of two slots: where one of them is freed, it means new memory, and the other stays."""
    fixture = burst_fixture(context)
    channel, other = Channel(context, fixture.prepared_model), fixture.another_pool()
    uses = ((3, fixture.pool), (5, fixture.pool), (3, other), (5, fixture.pool))
    for turn, (slot, pool) in enumerate(uses):
        if pool is other:
            _free(channel, (slot,))
        for one in (fixture.pool, other):
            fixture.fill(PAIRS[turn - 1], PAIRS[turn - 1], one)
        fixture.fill(PAIRS[turn % 2], PAIRS[2], pool)
        execution = channel.execute(fixture.request(pool), (slot,))
        with checks.about("NNHAL-BURST-017"):
            fixture.succeeded(execution, plus(PAIRS[turn % 2], PAIRS[2]), f"slot {slot} in turn {turn}", pool)


@cases.case("slots.free_unknown", "NNHAL-BURST-010", since=Version.V1_2, until=HIDL_LAST)
def free_unknown(context: CaseContext) -> None:
    """Freeing a slot that was never known, was freed already or cannot exist does nothing."""
    fixture = burst_fixture(context)
    channel = Channel(context, fixture.prepared_model)
    _free(channel, (0, _UNKNOWN))
    for slots in ((3, 3), (_UNKNOWN, -1, -(2**31)), (0, 1, 1, 0)):
        fixture.fill(*PAIRS[:2])
        fixture.succeeded(
            channel.execute(fixture.request(), (3,)), plus(*PAIRS[:2]), f"execution before freeing {slots}"
        )
        _free(channel, slots)
    fixture.fill(*PAIRS[1:3])
    fixture.succeeded(channel.execute(fixture.request(), (3,)), plus(*PAIRS[1:3]), "execution after the last freeing")


def _free(channel: Channel, slots: Sequence[int]) -> None:
    for slot in slots:
        checks.works(partial(channel.burst_context.free_memory, slot), f"freeMemory of slot {slot}")


@cases.case("slots.unknown", "NNHAL-BURST-011", "NNHAL-BURST-005", since=Version.V1_2, until=HIDL_LAST)
def unknown(context: CaseContext) -> None:
    """A slot that the client does not know ends in an error; once it does, the same slot works."""
    fixture = burst_fixture(context)
    channel = Channel(context, fixture.prepared_model)
    for name in (_UNKNOWN, -1, 6):
        fixture.fill(*PAIRS[:2])
        elements = request_elements(fixture.request(), (name,), measure=True)
        failed(channel.send(elements), f"a packet with slot {name}, which the client does not know")
    with checks.about("NNHAL-BURST-009"):
        what = "slot 6, which the client knows by now"
        fixture.succeeded(channel.execute(fixture.request(), (6,)), plus(*PAIRS[:2]), what)
    two = replace(fixture.request(), pools=fixture.request().pools * 2)
    failed(channel.send(request_elements(two, (6, 11), measure=False)), "a known slot and one that is not")
    fixture.fill(*PAIRS[1:3])
    with checks.about("NNHAL-BURST-005"):
        what = "slot 6 after a packet with another one"
        fixture.succeeded(channel.execute(fixture.request(), (6,)), plus(*PAIRS[1:3]), what)


@cases.case("slots.wrong_number_of_memories", "NNHAL-ROBUST-003", since=Version.V1_2, until=HIDL_LAST)
def wrong_number(context: CaseContext) -> None:
    """A client that answers with too few memories, or too many, gets an error, and the burst goes on."""
    for name, change in {"none": 0, "too_many": 2}.items():
        with context.configuration(name):
            fixture = burst_fixture(context)
            slots = _Careless()
            channel = Channel(context, fixture.prepared_model, slots=slots)
            slots.repeated = change
            fixture.fill(*PAIRS[:2])
            failed(channel.execute(fixture.request()), f"{change} memories for one slot")
            slots.repeated = 1
            fixture.fill(*PAIRS[1:3])
            fixture.succeeded(channel.execute(fixture.request()), plus(*PAIRS[1:3]), "the memory in the end")


class _Careless(SlotTable):
    """Gives each memory `repeated` times."""

    repeated = 1

    def get_memories(self, slots: tuple[int, ...]) -> tuple[Memory, ...]:
        return super().get_memories(slots) * self.repeated
