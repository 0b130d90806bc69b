"""The reference NPU Manager from inside: clock, delivery, identity, permissions and death."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from npu_conformance.harness.wire.memory import HostMemory
from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.manager import service
from npu_conformance.specs.errors import DeadObject, IllegalArgument, SecurityDenied
from npu_conformance.specs.npu.manager import ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.types import (
    PERMISSION,
    CompletionStatus,
    LoadStatus,
    ModelLoadRequest,
    ModelSize,
    Policy,
)
from npu_conformance.specs.plugin import Caller, Context

CAMERA, ASSISTANT, STRANGER = 10_001, 10_002, 10_003


class Recorder(ModelLoadRequestCallback):
    def __init__(self, dead: bool = False) -> None:
        self.dead = dead
        self.events: list[tuple[int, int]] = []
        self.listeners: list[ModelLoadStatusListener] = []

    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        if self.dead:
            raise DeadObject
        self.events.append((request.id, status))
        self.listeners.append(listener)

    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        self.events.append((request.id, status))


class Device:
    """A manager with two apps that may use it and a stranger that may not; `uid` is who calls."""

    def __init__(self) -> None:
        self.uid = CAMERA
        self.clock = VirtualClock()
        context = Context(HostMemory(), lambda: Caller(self.uid, 1), clock=self.clock)
        self.manager, self.control = service.create(context)
        for uid in (CAMERA, ASSISTANT, STRANGER):
            self.control.install_app(uid, f"app{uid}", True, 37)
            self.control.grant_permission(uid, PERMISSION, uid != STRANGER)

    def request(self, identifier: int, recorder: Recorder, uid: int = CAMERA) -> ModelLoadRequest:
        self.uid = uid
        request = ModelLoadRequest(identifier, ModelSize.GREATER_THAN_2G)
        self.manager.request_can_load_model(request, recorder)
        return request

    def granted(self, identifier: int, recorder: Recorder, uid: int = CAMERA) -> ModelLoadRequest:
        request = self.request(identifier, recorder, uid)
        self.control.advance_clock(0)
        return request


@pytest.fixture
def device() -> Device:
    return Device()


def test_nothing_is_delivered_before_the_clock_moves(device: Device) -> None:
    recorder = Recorder()
    device.request(1, recorder)
    assert recorder.events == []
    device.control.advance_clock(0)
    assert recorder.events == [(1, LoadStatus.CAN_LOAD_NOW)]


def test_unloading_completes_once(device: Device) -> None:
    recorder = Recorder()
    request = device.granted(1, recorder)
    recorder.listeners[0].notify_model_loaded(request)
    recorder.listeners[0].notify_model_unloaded(request)
    recorder.listeners[0].notify_model_unloaded(request)
    device.manager.cancel_model_load(request)
    device.control.advance_clock(1)
    assert recorder.events == [(1, LoadStatus.CAN_LOAD_NOW), (1, CompletionStatus.COMPLETE)]


def test_cancelling_before_the_grant_was_delivered_keeps_the_order_of_events(device: Device) -> None:
    recorder = Recorder()
    device.manager.cancel_model_load(device.request(1, recorder))
    device.control.advance_clock(0)
    assert recorder.events == [(1, LoadStatus.CAN_LOAD_NOW), (1, CompletionStatus.CANCELLED)]


def test_equal_ids_of_two_uids_are_two_requests(device: Device) -> None:
    camera, assistant = Recorder(), Recorder()
    device.granted(1, camera, CAMERA)
    request = device.granted(1, assistant, ASSISTANT)
    device.manager.cancel_model_load(request)
    device.control.advance_clock(0)
    assert camera.events == [(1, LoadStatus.CAN_LOAD_NOW)]
    assert assistant.events == [(1, LoadStatus.CAN_LOAD_NOW), (1, CompletionStatus.CANCELLED)]


def test_a_listener_in_foreign_hands_does_nothing_even_for_an_equal_id(device: Device) -> None:
    camera, assistant = Recorder(), Recorder()
    request = device.granted(1, camera, CAMERA)
    device.granted(1, assistant, ASSISTANT)
    camera.listeners[0].notify_model_unloaded(request)
    device.control.advance_clock(0)
    assert len(camera.events) == len(assistant.events) == 1


def test_a_live_id_is_refused_and_a_finished_one_is_free_again(device: Device) -> None:
    recorder = Recorder()
    request = device.granted(1, recorder)
    with pytest.raises(IllegalArgument, match="live already"):
        device.request(1, recorder)
    device.manager.cancel_model_load(request)
    device.granted(1, recorder)
    assert [status for _, status in recorder.events] == [0, 3, 0]


@pytest.mark.parametrize("identifier", [-(2**31), -1, 0, 2**31 - 1])
def test_every_32_bit_id_is_accepted(device: Device, identifier: int) -> None:
    recorder = Recorder()
    device.granted(identifier, recorder)
    assert recorder.events == [(identifier, 0)]


@pytest.mark.parametrize("identifier", [-(2**31) - 1, 2**31])
def test_a_longer_id_is_refused(device: Device, identifier: int) -> None:
    with pytest.raises(IllegalArgument, match="32-bit"):
        device.request(identifier, Recorder())


def test_every_call_needs_the_permission_and_has_no_effect_without_it(device: Device) -> None:
    recorder = Recorder()
    request = device.granted(1, recorder)
    device.control.grant_permission(CAMERA, PERMISSION, False)
    calls: list[Callable[[], None]] = [
        lambda: device.manager.request_can_load_model(ModelLoadRequest(2), recorder),
        lambda: device.manager.cancel_model_load(request),
        lambda: device.manager.set_policy(Policy.STATUS_QUO, None),
        lambda: recorder.listeners[0].notify_model_loaded(request),
        lambda: recorder.listeners[0].notify_model_unloaded(request),
    ]
    for call in calls:
        with pytest.raises(SecurityDenied, match=str(CAMERA)):
            call()
    device.control.advance_clock(0)
    assert recorder.events == [(1, 0)]


def test_a_uid_without_an_app_has_no_permission(device: Device) -> None:
    with pytest.raises(SecurityDenied, match="99"):
        device.request(1, Recorder(), uid=99)
    with pytest.raises(IllegalArgument, match="no app has uid 99"):
        device.control.grant_permission(99, PERMISSION, True)


@pytest.mark.parametrize("policy", [-1, 3, 99])
def test_an_unknown_policy_changes_nothing(device: Device, policy: int) -> None:
    recorder = Recorder()
    device.granted(1, recorder)
    with pytest.raises(IllegalArgument, match=str(policy)):
        device.manager.set_policy(policy, None)
    device.control.advance_clock(0)
    assert recorder.events == [(1, 0)]


def test_replacing_the_policy_ends_every_request(device: Device) -> None:
    camera, assistant = Recorder(), Recorder()
    request = device.granted(1, camera, CAMERA)
    device.granted(1, assistant, ASSISTANT)
    device.uid = CAMERA
    device.manager.set_policy(Policy.STATUS_QUO, None)
    camera.listeners[0].notify_model_unloaded(request)
    device.control.advance_clock(0)
    assert camera.events == assistant.events == [(1, 0), (1, CompletionStatus.CANCELLED)]


@pytest.mark.parametrize("end", ["kill_client", "remove_app"])
def test_a_dead_client_gets_nothing_more_and_the_others_all(device: Device, end: str) -> None:
    camera, assistant = Recorder(), Recorder()
    request = device.granted(1, camera, CAMERA)
    device.manager.cancel_model_load(request)
    device.request(2, camera, CAMERA)
    device.request(1, assistant, ASSISTANT)
    getattr(device.control, end)(CAMERA)
    device.control.advance_clock(0)
    assert camera.events == [(1, 0)]
    assert assistant.events == [(1, 0)]


def test_a_client_found_dead_at_delivery_loses_its_requests_only(device: Device) -> None:
    dead, alive = Recorder(dead=True), Recorder()
    request = device.request(1, dead, CAMERA)
    device.request(1, alive, ASSISTANT)
    device.control.advance_clock(0)
    assert alive.events == [(1, 0)]
    device.uid = CAMERA
    device.manager.cancel_model_load(request)
    device.control.advance_clock(0)
    assert dead.events == []


def test_a_client_found_dead_by_its_grant_loses_its_room(device: Device) -> None:
    device.manager.set_policy(Policy.BUDGET, None)
    dead, alive = Recorder(dead=True), Recorder()
    device.granted(1, dead, CAMERA)
    device.granted(1, alive, ASSISTANT)
    assert alive.events == [(1, LoadStatus.CAN_LOAD_NOW)]


def test_a_killed_client_may_come_back_with_the_same_id(device: Device) -> None:
    recorder = Recorder()
    device.granted(1, recorder)
    device.control.kill_client(CAMERA)
    device.granted(1, recorder)
    assert recorder.events == [(1, 0), (1, 0)]


def test_a_context_without_a_virtual_clock_gets_one() -> None:
    manager, control = service.create(Context(HostMemory(), lambda: Caller(CAMERA, 1)))
    control.install_app(CAMERA, "camera", True, 37)
    control.grant_permission(CAMERA, PERMISSION, True)
    recorder = Recorder()
    manager.request_can_load_model(ModelLoadRequest(1), recorder)
    control.advance_clock(10)
    assert recorder.events == [(1, 0)]


def test_time_does_not_go_back(device: Device) -> None:
    with pytest.raises(IllegalArgument, match="5 ns"):
        device.control.advance_clock(-5)


def test_due_actions_run_in_order_and_what_they_post_runs_too() -> None:
    clock = VirtualClock(now_ns=100)
    ran: list[tuple[str, int]] = []

    def note(name: str) -> None:
        ran.append((name, clock.now_ns()))

    def post_another() -> None:
        note("first")
        clock.post(lambda: note("posted"), 5)

    clock.post(lambda: note("late"), 20)
    clock.post(post_another, 10)
    clock.post(lambda: note("second"), 10)
    clock.advance(19)
    assert ran == [("first", 110), ("second", 110), ("posted", 115)]
    assert clock.now_ns() == 119
    clock.advance(1)
    assert ran[-1] == ("late", 120)


def test_apps_that_call_at_once_lose_no_request_and_no_order() -> None:
    local = threading.local()
    manager, control = service.create(Context(HostMemory(), lambda: Caller(local.uid, 1)))
    recorders = {uid: Recorder() for uid in range(20_000, 20_004)}

    def play(uid: int) -> None:
        local.uid = uid
        for identifier in range(100):
            manager.request_can_load_model(ModelLoadRequest(identifier), recorders[uid])
            manager.cancel_model_load(ModelLoadRequest(identifier))

    for uid in recorders:
        control.install_app(uid, f"app{uid}", True, 37)
        control.grant_permission(uid, PERMISSION, True)
    threads = [threading.Thread(target=play, args=(uid,)) for uid in recorders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    control.advance_clock(0)
    expected = [(identifier, status) for identifier in range(100) for status in (0, CompletionStatus.CANCELLED)]
    assert all(recorder.events == expected for recorder in recorders.values())
