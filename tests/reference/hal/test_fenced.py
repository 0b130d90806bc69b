"""Fenced execution of the reference: order of errors, fences, both timings, durations on a virtual clock."""

from __future__ import annotations

import threading
from typing import Any

import patience
import pytest
from reference_driver import VECTOR, Clock

from npu_conformance.corpus.wire_model import BuiltRequest, build_model, build_request
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, FenceState
from npu_conformance.specs.neuralnetworks.fences import FOR_EVER_NS, SettableFence
from npu_conformance.specs.plugin import Caller, Context
from npu_conformance.specs.versions import Version

SIGNALLED, ERROR = FenceState.SIGNALLED, FenceState.ERROR
INVALID, MISSED, GENERAL = (
    ErrorStatus.INVALID_ARGUMENT,
    ErrorStatus.MISSED_DEADLINE_PERSISTENT,
    ErrorStatus.GENERAL_FAILURE,
)
FENCED = pytest.mark.parametrize("version", [one for one in Version if one >= Version.V1_3], ids=str)


class Notified(hal.PreparedModelCallback):
    """Keeps the prepared model."""

    model: hal.PreparedModel | None = None

    def notify(self, status: int, prepared_model: hal.PreparedModel | None) -> None:
        self.model = prepared_model


class Fenced:
    """A device of one version with a prepared model and a request. launch: by default without limits."""

    def __init__(self, version: Version, **model: Any) -> None:
        self.version, self.clock, self.none = version, Clock(), version.unavailable_time
        self.pools: list[bytearray] = []
        device = ReferenceDevice(Context(self, lambda: Caller(0, 0), {}, self.clock), version)
        callback, built = Notified(), build_model(VECTOR, version, **model)
        device.prepare_model(built.model, 1, 1, self.none, (), (), bytes(32), callback)
        assert callback.model is not None
        self.prepared_model = callback.model
        self.asked: types.Request = self.request(build_request(VECTOR, VECTOR.examples[0], version))

    def map(self, memory: types.Memory) -> memoryview:
        return memoryview(self.pools[memory.token - 1])

    def request(self, built: BuiltRequest) -> types.Request:
        self.built, self.output = built, bytearray(built.output_size)
        self.pools += [bytearray(built.input_data), self.output]
        sizes = ((len(self.pools) - 1, len(built.input_data)), (len(self.pools), built.output_size))
        inputs, outputs = (types.Memory("ashmem", size, token) for token, size in sizes)
        return built.request(types.RequestMemoryPool(inputs), types.RequestMemoryPool(outputs))

    def check_output(self) -> None:
        expected = VECTOR.examples[0].outputs["output"]
        assert self.built.read("output", bytes(self.output), expected.shape).tolist() == expected.tolist()

    def launch(self, *fences: hal.Fence | None, **changes: Any) -> hal.FencedExecutionResult:
        given = {"request": self.asked, "measure": True, "deadline": self.none, "duration": self.none, **changes}
        return self.prepared_model.execute_fenced(
            given["request"], fences, given["measure"], given["deadline"], self.none, given["duration"]
        )

    def refused(self, *fences: hal.Fence | None, **changes: Any) -> int | None:
        try:
            self.launch(*fences, **changes)
        except ServiceError as error:
            return error.status
        return None


def ended(result: hal.FencedExecutionResult) -> tuple[int, hal.FencedExecutionInfo]:
    assert result.sync_fence is not None
    assert result.callback is not None
    return result.sync_fence.wait(FOR_EVER_NS), result.callback.get_execution_info()


def settled(state: int) -> SettableFence:
    fence = SettableFence()
    fence.settle(state)
    return fence


@FENCED
def test_no_thread_waits_and_the_signal_lets_go(version: Version) -> None:
    fixture, fence, threads = Fenced(version), SettableFence(), threading.active_count()
    result = fixture.launch(fence, settled(SIGNALLED))
    assert threading.active_count() == threads
    assert result.callback is not None
    assert result.callback.get_execution_info().status == GENERAL
    fence.signal()
    state, info = ended(result)
    assert (state, info.status) == (SIGNALLED, ErrorStatus.NONE)
    fixture.check_output()


@FENCED
def test_times_count_from_the_call_and_from_the_signal(version: Version) -> None:
    fixture, fence = Fenced(version), SettableFence()
    result = fixture.launch(fence)
    fixture.clock.now += 10**9
    fence.signal()
    _, info = ended(result)
    waited = info.timing_launched.time_in_driver - info.timing_fenced.time_in_driver
    second = 10**9 if version.is_aidl else 10**6
    assert second <= waited < 1.001 * second
    assert info.timing_launched.time_on_device == info.timing_fenced.time_on_device < second


@FENCED
def test_a_duration_counts_from_the_signal(version: Version) -> None:
    fixture = Fenced(version)
    for duration, status in ((10**6, ErrorStatus.NONE), (1, MISSED)):
        fence = SettableFence()
        result = fixture.launch(fence, duration=duration)
        fixture.clock.now += 10**9
        fence.signal()
        assert ended(result)[1].status == status


@FENCED
def test_the_earlier_of_deadline_and_duration_applies(version: Version) -> None:
    fixture = Fenced(version)
    for ahead, duration in ((10**8, fixture.none), (10**8, 10**12), (None, 1), (10**15, 1)):
        fence = SettableFence()
        deadline = fixture.none if ahead is None else fixture.clock.now + ahead
        result = fixture.launch(fence, deadline=deadline, duration=duration)
        fixture.clock.now += 10**9
        fence.signal()
        state, info = ended(result)
        assert (state, info.status) == (ERROR, MISSED)


@FENCED
def test_errors_come_in_order(version: Version) -> None:
    fixture, failed = Fenced(version), settled(ERROR)
    short = types.Request(fixture.asked.inputs[:1], fixture.asked.outputs, fixture.asked.pools)
    assert fixture.refused(failed, request=short, deadline=1) == INVALID
    assert fixture.refused(failed, deadline=1) == MISSED
    assert fixture.refused(failed) == INVALID
    assert fixture.refused(settled(SIGNALLED), None) == INVALID
    assert fixture.refused(duration=-2) == (INVALID if version.is_aidl else None)


@FENCED
def test_open_outputs_are_refused(version: Version) -> None:
    fixture = Fenced(version, unspecified_outputs=True)
    assert fixture.refused() == INVALID


def test_an_output_that_does_not_fit_is_a_failure() -> None:
    fixture = Fenced(Version.V1_3)
    built = build_request(VECTOR, VECTOR.examples[0], Version.V1_3, insufficient_output=True)
    state, info = ended(fixture.launch(request=fixture.request(built)))
    assert (state, info.status) == (ERROR, GENERAL)


@FENCED
def test_a_failure_later_is_told_at_once(version: Version) -> None:
    fixture, fences = Fenced(version), [SettableFence() for _ in range(2)]
    result = fixture.launch(*fences)
    fences[1].fail()
    state, info = ended(result)
    assert (state, info.status) == (ERROR, GENERAL)
    fences[0].signal()
    assert not any(fixture.output)


def test_a_bug_leaves_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    fixture, raised = Fenced(Version.FL8), threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda arguments: raised.set())
    fixture.pools.clear()
    state, info = ended(fixture.launch())
    assert (state, info.status) == (ERROR, GENERAL)
    assert raised.wait(patience.SECONDS)


def test_the_form_with_a_configuration_is_the_same() -> None:
    fixture = Fenced(Version.FL8)
    config = types.ExecutionConfig(measure_timing=True)
    fence = settled(SIGNALLED)
    state, info = ended(fixture.prepared_model.execute_fenced_with_config(fixture.asked, (fence,), config, -1, -1))
    assert (state, info.status) == (SIGNALLED, ErrorStatus.NONE)
    assert info.timing_launched.time_in_driver > 0
    with pytest.raises(ServiceError):
        fixture.prepared_model.execute_fenced_with_config(fixture.asked, (settled(ERROR),), config, -1, -1)
