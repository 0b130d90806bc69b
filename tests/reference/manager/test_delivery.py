"""How the reference manager's messages reach clients: in real time, over connections, and where clients go away."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from patience import SECONDS, eventually

from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import Isolation, open_subject
from npu_conformance.harness.wire.memory import HostMemory
from npu_conformance.reference.manager import real_delivery, service
from npu_conformance.reference.manager.real_delivery import RealDelivery
from npu_conformance.specs.errors import IllegalState
from npu_conformance.specs.npu.manager import ManagerControl, ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.types import PERMISSION, ModelLoadRequest, ModelSize, Policy
from npu_conformance.specs.plugin import Caller, Context

CAMERA, ASSISTANT = 10_001, 10_002


class Recorder(ModelLoadRequestCallback):
    """hold: what a callback waits for before it returns."""

    def __init__(self, hold: threading.Event | None = None) -> None:
        self.hold = hold
        self.events: list[tuple[str, int, int | None]] = []
        self.listener: ModelLoadStatusListener | None = None

    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        if self.hold is not None:
            assert self.hold.wait(SECONDS)
        self.listener = listener
        self.events.append(("decision", request.id, status))

    def on_request_unload_model(self, request: ModelLoadRequest, reason: int | None) -> None:
        self.events.append(("unload", request.id, reason))

    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        self.events.append(("complete", request.id, status))


def test_in_real_time_a_slow_client_delays_only_itself_and_gets_everything_in_order() -> None:
    uid = [CAMERA]
    manager, control = service.create(Context(HostMemory(), lambda: Caller(uid[0], 1)), real_time=True)
    for each in (CAMERA, ASSISTANT):
        control.install_app(each, f"app{each}", True, 37)
        control.grant_permission(each, PERMISSION, True)
    release = threading.Event()
    slow, quick = Recorder(release), Recorder()
    for identifier in range(20):
        manager.request_can_load_model(ModelLoadRequest(identifier), slow)
        manager.cancel_model_load(ModelLoadRequest(identifier))
    uid[0] = ASSISTANT
    manager.request_can_load_model(ModelLoadRequest(1), quick)
    eventually(lambda: quick.events == [("decision", 1, 0)])
    assert slow.events == []
    release.set()
    eventually(lambda: len(slow.events) == 40)
    assert slow.events == [each for index in range(20) for each in (("decision", index, 0), ("complete", index, 3))]
    with pytest.raises(IllegalState, match="real"):
        control.advance_clock(1)


def test_a_client_that_takes_nothing_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_delivery, "MOST_WAITING", 5)
    manager, control = service.create(Context(HostMemory(), lambda: Caller(CAMERA, 1)), real_time=True)
    control.install_app(CAMERA, "camera", True, 37)
    control.grant_permission(CAMERA, PERMISSION, True)
    release = threading.Event()
    blocked = Recorder(release)
    for identifier in range(10):
        manager.request_can_load_model(ModelLoadRequest(identifier), blocked)
    eventually(lambda: not manager.table.live())
    assert blocked.events == []
    release.set()


def test_timers_run_in_order_and_lanes_survive_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    real, ran = RealDelivery(), list[str]()

    def start() -> None:  # in the timers' own thread, which looks at them again when this has ended
        real.later(lambda: ran.append("late"), 2_000_000)
        real.later(lambda: ran.append("early"), 1_000_000)

    real.later(start, 0)
    real.post("lane", lambda: ran.append(str(1 // 0)))
    real.post("lane", lambda: ran.append("behind"))
    eventually(lambda: len(ran) == 3)
    assert ran.index("early") < ran.index("late")
    real.later(lambda: ran.append("again"), 0)
    eventually(lambda: ran[-1] == "again")
    assert "ZeroDivisionError" in capfd.readouterr().err


@pytest.fixture(params=["process", "inprocess"])
def subject(request: pytest.FixtureRequest) -> Iterator[SubjectHandle]:
    isolation: Isolation = request.param
    found = open_subject("reference", isolation=isolation)
    control = found.interfaces.manager_control
    assert control is not None
    for uid in (CAMERA, ASSISTANT):
        control.install_app(uid, f"app{uid}", True, 37)
        control.grant_permission(uid, PERMISSION, True)
    yield found
    found.close()


def test_a_closed_connection_frees_what_its_app_held(subject: SubjectHandle) -> None:
    control = subject.interfaces.manager_control
    assert control is not None
    dying, alive = subject.application(CAMERA), subject.application(ASSISTANT)
    first, second = Recorder(), Recorder()
    assert dying.interfaces.manager is not None
    assert alive.interfaces.manager is not None
    dying.interfaces.manager.set_policy(Policy.TURN_TAKING, None)
    dying.interfaces.manager.request_can_load_model(ModelLoadRequest(1, ModelSize.GREATER_THAN_2G), first)
    alive.interfaces.manager.request_can_load_model(ModelLoadRequest(1), second)
    control.advance_clock(0)
    assert subject.wait_until(lambda: bool(first.events) and bool(second.events), SECONDS)
    assert (first.events, second.events) == ([("decision", 1, 0)], [("decision", 1, 2)])
    dying.close()
    _until(subject, control, lambda: len(second.events) == 2)
    assert second.events[-1] == ("decision", 1, 0)


def test_of_two_connections_of_one_app_the_other_keeps_its_requests(subject: SubjectHandle) -> None:
    control = subject.interfaces.manager_control
    assert control is not None
    one, other = subject.application(CAMERA), subject.application(CAMERA)
    kept, waiting = Recorder(), Recorder()
    assert one.interfaces.manager is not None
    assert other.interfaces.manager is not None
    one.interfaces.manager.set_policy(Policy.TURN_TAKING, None)
    other.interfaces.manager.request_can_load_model(ModelLoadRequest(2), kept)
    one.interfaces.manager.request_can_load_model(ModelLoadRequest(1), Recorder())
    one.close()
    other.interfaces.manager.request_can_load_model(ModelLoadRequest(3), waiting)
    _until(subject, control, lambda: bool(kept.events) and bool(waiting.events))
    assert (kept.events, waiting.events) == ([("decision", 2, 0)], [("decision", 3, 2)])


def _until(subject: SubjectHandle, control: ManagerControl, predicate: Callable[[], bool]) -> None:
    """Wait for a condition: the host detects the end of a connection in its own time."""

    def look() -> bool:
        control.advance_clock(0)
        subject.wait_until(predicate, 0.01)
        return predicate()

    eventually(look)
