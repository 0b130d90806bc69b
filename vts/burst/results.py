"""HIDL's result packets: how long they may be, bytes without a name, times."""

from __future__ import annotations

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst_channel import Channel
from npu_conformance.harness.run.executing.burst_packets import failed
from npu_conformance.harness.run.executing.execution import timing_rules
from npu_conformance.specs.neuralnetworks.burst_packets import pack, request_elements
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib.addition import plus
from npu_conformance.vts.lib.burst import PAIRS, BurstFixture, burst_fixture

cases = CaseGroup("vts.burst", group=Group.EXECUTION)

_SMALL = 8
"""Elements of the result queue that AOSP's VTS makes too small."""


@cases.case("result.too_long", "NNHAL-BURST-006", "NNHAL-BURST-005", since=Version.V1_2, until=HIDL_LAST)
def too_long(context: CaseContext) -> None:
    """A result of more elements than the queue holds is GENERAL_FAILURE, not a part of the result."""
    fixture = burst_fixture(context, outputs=4)
    length = _length(context, fixture)
    if length <= _SMALL:
        raise NotApplicable(f"the result has {length} elements, which fit everywhere")
    for capacity in sorted({2, _SMALL, length - 1}):
        with context.configuration(f"room_for_{capacity}"):
            channel = Channel(context, fixture.prepared_model, result_capacity=capacity)
            for turn in range(3):
                fixture.fill(*PAIRS[:2])
                execution = channel.execute(fixture.request(), measure=bool(turn % 2))
                what = f"a result of {length} elements for a queue of {capacity}"
                failed(execution, what)
                checks.status(execution.status, {ErrorStatus.GENERAL_FAILURE}, what)


@cases.case("result.fits_exactly", "NNHAL-BURST-006", "NNHAL-BURST-003", since=Version.V1_2, until=HIDL_LAST)
def fits_exactly(context: CaseContext) -> None:
    """A result that fills its queue to the last element is written."""
    fixture = burst_fixture(context, outputs=3)
    channel = Channel(context, fixture.prepared_model, result_capacity=_length(context, fixture))
    for turn in range(3):
        fixture.fill(*PAIRS[:2])
        fixture.succeeded(channel.execute(fixture.request()), plus(*PAIRS[:2]), f"result {turn} that fills its queue")


def _length(context: CaseContext, fixture: BurstFixture) -> int:
    """Elements of a good result."""
    channel = Channel(context, fixture.prepared_model)
    fixture.fill(*PAIRS[:2])
    execution = channel.execute(fixture.request())
    fixture.succeeded(execution, plus(*PAIRS[:2]), "execution with room for its result")
    return 2 + sum(1 + len(shape.dimensions) for shape in execution.output_shapes)


@cases.case("result.unused_bytes", "NNHAL-BURST-007", "NNHAL-ROBUST-004", since=Version.V1_2, until=HIDL_LAST)
def unused_bytes(context: CaseContext) -> None:
    """Bytes of result elements without a name are zero, whatever was computed, rejected or in the queue before.

    AOSP's VTS looks at the three bytes behind isSufficient; here all are looked at, also those of errors.
    """
    fixture = burst_fixture(context, outputs=2)
    channel = Channel(context, fixture.prepared_model, result_capacity=13)
    good = request_elements(fixture.request(), (0,), measure=True)
    for turn in range(12):
        fixture.fill(*PAIRS[:2])
        channel.litter()
        fixture.succeeded(channel.execute(fixture.request(), measure=turn % 2 == 0), plus(*PAIRS[:2]), f"result {turn}")
        channel.litter()
        failed(channel.exchange(pack(good[:-1])), f"malformed packet {turn}")


@cases.case(
    "result.times", "NNHAL-BURST-003", "NNHAL-TIMING-001", "NNHAL-TIMING-004", since=Version.V1_2, until=HIDL_LAST
)
def times(context: CaseContext) -> None:
    """Times are reported where they were asked for, and not because the packet before asked."""
    fixture = burst_fixture(context)
    channel = Channel(context, fixture.prepared_model)
    for measure in (True, False, True, True, False, False):
        fixture.fill(*PAIRS[:2])
        execution = channel.execute(fixture.request(), measure=measure)
        with checks.about("NNHAL-EXECUTE-008"):
            fixture.succeeded(execution, plus(*PAIRS[:2]), f"an execution with measureTiming {measure}")
        timing_rules(context, execution, measured=measure)
