"""A subject in the harness's own process, whose apps are still reached through sockets."""

from __future__ import annotations

import threading

from npu_conformance.harness.loading import open_subject
from npu_conformance.specs.npu.manager import ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.types import PERMISSION, ModelLoadRequest

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
        late.join(30)
        assert not late.is_alive(), "the call waits for somebody to read what it brings"
        subject.wait_until(lambda: counter.ended == 3 * REQUESTS, 30)
        assert (counter.decided, counter.ended) == (3 * REQUESTS, 3 * REQUESTS)
    finally:
        subject.close()
