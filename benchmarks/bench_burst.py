"""Measures what a burst saves: the same request through a burst and by executeSynchronously, over the wire."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

from benchmarks.figures import Figure
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst import call, configure_burst
from npu_conformance.harness.run.executing.burst_channel import Channel
from npu_conformance.harness.run.executing.execution import Execution, synchronous
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.wire.protocol import TRANSPORTS
from npu_conformance.specs.errors import status_name
from npu_conformance.specs.neuralnetworks.burst_packets import ResultInformation, pack, request_elements, unpack_result
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.burst import PAIRS, BurstFixture, burst_fixture

_ROUNDS, _TURNS = 30, 40


def compared(one: Callable[[], Execution], other: Callable[[], Execution]) -> tuple[float, float]:
    """Median microseconds of one execution each way, in turns, so that both meet the same load of the machine."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(_ROUNDS + 3):
        for found, execute in zip(times, (one, other), strict=True):
            started = time.perf_counter()
            for _ in range(_TURNS):
                status = execute().status
                if status != ErrorStatus.NONE:
                    raise RuntimeError(f"an execution ended with {status_name(status)}")
            if turn >= 3:
                found.append((time.perf_counter() - started) / _TURNS)
    return statistics.median(times[0]) * 1e6, statistics.median(times[1]) * 1e6


def figures() -> Iterator[Figure]:
    """How many times faster a burst is, for HIDL's queues, HIDL's packets as messages, and AIDL's calls."""
    yield _figure("burst by queues (1.3)", Version.V1_3, TRANSPORTS, aim=1.0)
    yield _figure("burst by messages (1.3)", Version.V1_3, ("message",), aim=None)
    yield _figure("burst of AIDL (fl8)", Version.FL8, TRANSPORTS, aim=0.9)


def _figure(name: str, version: Version, transports: tuple[str, ...], aim: float | None) -> Figure:
    subject = open_subject("reference", {"hal": version.value}, transports=transports, version=version)
    context = CaseContext(Case("benchmarks.burst.execution.compared", lambda _: None, ()), subject)
    try:
        fixture = burst_fixture(context)
        fixture.fill(*PAIRS[:2])
        request = fixture.request()
        alone, through = compared(
            lambda: synchronous(fixture.prepared_model, request, measure=False), _through(context, fixture, version)
        )
    finally:
        context.close()
        subject.close()
    text = f"{through:.0f} us; executeSynchronously: {alone:.0f} us"
    return Figure(name, alone / through, "x", text, aim, at_least=True)


def _through(context: CaseContext, fixture: BurstFixture, version: Version) -> Callable[[], Execution]:
    request = fixture.request()
    if version.is_aidl:
        burst = configure_burst(fixture.prepared_model)
        return lambda: call(burst, request, (0,))
    channel = Channel(context, fixture.prepared_model)
    channel.execute(request)
    # Whoever repeats a request has its packet ready, as executeSynchronously has its struct.
    packet = pack(request_elements(request, (0,), measure=False))
    if not _has_queues(channel):
        return lambda: Execution(_status(channel.burst_context.execute_packet(packet)), (), None)

    def through_queues() -> Execution:
        channel.write(packet)
        return Execution(_status(channel.read_bytes()), (), None)

    return through_queues


def _has_queues(channel: Channel) -> bool:
    """False where packets travel as messages, since no memory is shared."""
    try:
        return channel.requests is not None
    except NotApplicable:
        return False


def _status(packet: bytes) -> int:
    """The status of a result, read without the checks of the suite, which are no part of a burst."""
    head = unpack_result(packet)[0]
    assert isinstance(head, ResultInformation)
    return head.status
