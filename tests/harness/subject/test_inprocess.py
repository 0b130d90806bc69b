"""A subject in the harness's own process, whose apps are still reached through sockets."""

from __future__ import annotations

import threading

import patience

from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.npu.manager import ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.types import PERMISSION, ModelLoadRequest
from npu_conformance.specs.npu.workload import InferenceRun, WorkloadCallback

SECOND_NS = 1_000_000_000
UID, REQUESTS = 10_301, 900


class Counter(ModelLoadRequestCallback):
    """Counts the decisions and the ends."""

    def __init__(self) -> None:
        self.decided = self.ended = 0

    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        self.decided += 1

    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        self.ended += 1


def test_a_call_may_bring_more_callbacks_than_a_socket_holds() -> None:
    subject = open_subject("reference", isolation="inprocess")
    try:
        control = subject.interfaces.manager_control
        assert control is not None
        control.install_app(UID, "com.example.flood", True, 37)
        control.grant_permission(UID, PERMISSION, True)
        manager = subject.application(UID).interfaces.manager
        assert manager is not None
        counter = Counter()
        for number in range(3 * REQUESTS):
            manager.request_can_load_model(ModelLoadRequest(number), counter)
            manager.cancel_model_load(ModelLoadRequest(number))
        late = threading.Thread(target=control.advance_clock, args=(1,), daemon=True)
        late.start()
        late.join(patience.SECONDS)
        assert not late.is_alive(), "the call waits for somebody to read what it brings"
        subject.wait_until(lambda: counter.ended == 3 * REQUESTS, patience.SECONDS)
        assert (counter.decided, counter.ended) == (3 * REQUESTS, 3 * REQUESTS)
    finally:
        subject.close()


class Ended(WorkloadCallback):
    """Counts runs that succeeded."""

    count = 0

    def on_run_ended(self, succeeded: bool) -> None:
        self.count += succeeded


def test_the_manager_knows_what_its_hal_told_when_its_clock_has_moved() -> None:
    subject = open_subject("reference", isolation="inprocess")
    try:
        control, workload = subject.interfaces.manager_control, subject.application(UID).interfaces.workload
        assert control is not None
        assert workload is not None
        control.install_app(UID, "com.example.worker", True, 37)
        ended = Ended()
        for number in range(1, 31):
            workload.run_test_inference(InferenceRun(), ended)
            control.advance_clock(2 * SECOND_NS)
            completed = {app.uid: app.completed for app in control.take_snapshot().apps}
            assert completed[UID] == number
        assert subject.wait_until(lambda: ended.count == 30, patience.SECONDS)
    finally:
        subject.close()
