"""A subject in the harness's own process, whose apps are still reached through sockets."""

from __future__ import annotations

import threading

import patience
import pytest

from npu_conformance.harness.judge.verdicts import Hung
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.remote_application import RemoteApplication
from npu_conformance.reference.manager.manager import NpuManager
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


def test_a_call_that_hangs_is_told_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    may_end = threading.Event()

    def slow_dump(_: NpuManager) -> str:
        may_end.wait(patience.SECONDS)
        return ""

    monkeypatch.setattr(NpuManager, "dump", slow_dump)
    subject = open_subject("reference", isolation="inprocess")
    try:
        application = subject.application(UID)
        assert isinstance(application, RemoteApplication)
        assert application.interfaces.manager is not None
        application.scale = 0.01
        with pytest.raises(Hung) as caught:
            application.interfaces.manager.dump()
        may_end.set()
        told = "manager.dump: no answer within 0.05 s (connection closed); it was at test_inprocess.py:"
        assert str(caught.value).startswith(told)
        assert str(caught.value).endswith(" in slow_dump")
        assert f"in {test_a_call_that_hangs_is_told_with_its_place.__name__}\n" in caught.value.traceback
    finally:
        subject.close()


def test_what_a_subject_does_at_the_end_is_done_before_close_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done later would be done in the midst of the next test."""
    done = []

    def slowly(_: NpuManager, caller: object) -> None:
        threading.Event().wait(0.05)
        done.append(caller)

    monkeypatch.setattr(NpuManager, "connection_closed", slowly)
    subject = open_subject("reference", isolation="inprocess")
    for uid in range(UID, UID + 3):
        subject.application(uid)
    subject.close()
    assert len(done) == 3
