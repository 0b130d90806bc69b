"""Bad input and broken neighbours at a manager in a process of its own: nobody else suffers from them."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from npu_processes import ASSISTANT, CAMERA, OURS, Device, listen, works
from patience import SECONDS, eventually

from npu_conformance.harness.judge.verdicts import CaseEnded
from npu_conformance.harness.run.app_connection import ticket_of
from npu_conformance.harness.subject.handle import Application
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.remote import RemoteSubject
from npu_conformance.harness.wire.protocol import LINE_LIMIT
from npu_conformance.reference.manager.requests import MOST_REQUESTS
from npu_conformance.simulation.demo import processes
from npu_conformance.simulation.demo.reports import Kind
from npu_conformance.specs.errors import IllegalState
from npu_conformance.specs.npu.manager import Manager, ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.scheduling import Scheduling, SchedulingCallback
from npu_conformance.specs.npu.types import (
    DEBOUNCE_DURATION_MS,
    PERMISSION,
    CompletionStatus,
    Importance,
    LoadStatus,
    ModelLoadRequest,
    ModelSize,
    Policy,
    SchedulingConfig,
)

FLOODERS, LEGACY = range(10_100, 10_110), 10_300
LARGE = ModelSize.GREATER_THAN_2G
HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Device]:
    found = Device(tmp_path)
    yield found
    found.close()


class CallbackRecorder(ModelLoadRequestCallback):
    """What an app receives: decisions and completions as numbers, unload requests as `unload`."""

    def __init__(self) -> None:
        self.received: dict[int, list[object]] = {}
        self.listener: ModelLoadStatusListener | None = None

    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        self.listener = listener
        self.received.setdefault(request.id, []).append(status)

    def on_request_unload_model(self, request: ModelLoadRequest, reason: int | None) -> None:
        self.received.setdefault(request.id, []).append("unload")

    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        self.received.setdefault(request.id, []).append(status)


class RemoteApp:
    """An app of this process with a connection of its own."""

    def __init__(self, device: Device, uid: int, importance: int = Importance.CACHED, *, declares: bool = True) -> None:
        device.control.install_app(uid, f"app{uid}", declares, 37 if declares else 36)
        device.control.grant_permission(uid, PERMISSION, True)
        device.control.set_importance(uid, importance)
        self.subject, self.recorder = device.subject, CallbackRecorder()
        self.connection: Application = device.subject.application(uid)

    @property
    def manager(self) -> Manager:
        """The service, called as this app."""
        found = self.connection.interfaces.manager
        assert found is not None
        return found

    def asks(self, identifier: int, size: int = LARGE) -> None:
        """Submit a request."""
        self.manager.request_can_load_model(ModelLoadRequest(identifier, size), self.recorder)

    def receives(self, identifier: int, *expected: object) -> None:
        """Wait until these are the notifications about a request, in full."""
        received = self.recorder.received.setdefault(identifier, [])
        assert self.subject.wait_until(lambda: received == [*expected], SECONDS), received


class RawApp:
    """An app that writes whatever bytes it likes."""

    def __init__(self, device: Device, uid: int) -> None:
        device.control.set_importance(uid, Importance.FOREGROUND)
        address, ticket = ticket_of(device.subject, uid)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(SECONDS)
        self.socket.connect(address.removeprefix("unix:"))
        self.lines = self.socket.makefile("rb")
        hello = self.ask({**HELLO, "params": {"protocolVersion": 1, "ticket": ticket}})
        self.manager: int = hello["result"]["objects"]["manager"]

    def ask(self, message: dict[str, Any] | bytes) -> dict[str, Any]:
        """Send a line; return the next one that is an answer."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.socket.sendall(data + b"\n")
        while True:
            answer: dict[str, Any] = json.loads(self.lines.readline())
            if "method" not in answer:
                return answer

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Make a call of the manager, unless another object is named."""
        return self.ask({"jsonrpc": "2.0", "id": 5, "method": method, "params": {"object": self.manager, **params}})

    def close(self) -> None:
        """Close the connection, which is the app's death."""
        self.lines.close()
        self.socket.close()


def test_ten_thousand_outstanding_requests_delay_nobody_and_vanish_with_their_apps(device: Device) -> None:
    device.take_turns(Policy.BUDGET)
    flooders = [RemoteApp(device, uid) for uid in FLOODERS]
    for flooder in flooders:
        for identifier in range(MOST_REQUESTS):
            flooder.asks(identifier)
    assert len(device.models()) == 10_000
    foreground = RemoteApp(device, CAMERA, Importance.FOREGROUND)
    foreground.asks(1)
    foreground.receives(1, LoadStatus.CAN_LOAD_NOW)
    for flooder in flooders:
        flooder.connection.close()
    eventually(lambda: [(model.uid, model.id) for model in device.models()] == [(CAMERA, 1)])
    foreground.receives(1, LoadStatus.CAN_LOAD_NOW)


def test_ten_thousand_requests_of_one_app_are_refused_from_the_stated_number_on(device: Device) -> None:
    device.take_turns(Policy.BUDGET)
    flooder, other = RemoteApp(device, CAMERA), RemoteApp(device, ASSISTANT)
    refused = 0
    for identifier in range(10_000):
        try:
            flooder.asks(identifier)
        except IllegalState:
            refused += 1
    assert (refused, len(device.models())) == (10_000 - MOST_REQUESTS, MOST_REQUESTS)
    other.asks(1)
    other.receives(1, LoadStatus.NOT_PRIORITIZED)
    for identifier in reversed(range(MOST_REQUESTS)):
        flooder.manager.cancel_model_load(ModelLoadRequest(identifier))
    other.receives(1, LoadStatus.NOT_PRIORITIZED, LoadStatus.CAN_LOAD_NOW)
    flooder.receives(0, LoadStatus.CAN_LOAD_NOW, CompletionStatus.CANCELLED)
    flooder.receives(MOST_REQUESTS - 1, LoadStatus.NOT_PRIORITIZED, CompletionStatus.CANCELLED)


def _request(**fields: Any) -> dict[str, Any]:
    return {"id": 7, "size": 0, "priority": 0, **fields}


GARBAGE = {
    "no JSON": (b"nonsense", -32700),
    "no UTF-8": (b"\xff\xfe\x00", -32700),
    "too deep": (b'{"x":' * 10_000, -32700),
    "an empty line": (b"", -32700),
    "no object": (b"[1, 2]", -32600),
    "an answer to nothing": (b'{"jsonrpc": "2.0", "id": 77, "result": 1}', -32600),
}
MISUSED: dict[str, tuple[str, dict[str, Any], int]] = {
    "an unknown method": ("manager.explode", {}, -32601),
    "a private method": ("manager._decide", {}, -32601),
    "another interface": ("managerControl.killClient", {"uid": CAMERA, "pid": 0}, -32602),
    "no parameters": ("manager.requestCanLoadModel", {}, -32602),
    "an object that was never given": ("manager.dump", {"object": 4711}, -32602),
    "a callback of the manager's": ("manager.requestCanLoadModel", {"request": _request(), "callback": 4711}, -32602),
    "a text for an id": ("manager.requestCanLoadModel", {"request": _request(id="7"), "callback": -1}, -32602),
    "a fraction for a size": ("manager.requestCanLoadModel", {"request": _request(size=0.5), "callback": -1}, -32602),
    "an id of 33 bits": ("manager.requestCanLoadModel", {"request": _request(id=2**32), "callback": -1}, -32002),
    "no callback": ("manager.requestCanLoadModel", {"request": _request(), "callback": None}, -32002),
    "a size that is none": ("manager.requestCanLoadModel", {"request": _request(size=9), "callback": -1}, -32002),
    "a list for a policy": ("manager.setPolicy", {"policy": [], "parameters": None}, -32602),
    "a policy that is none": ("manager.setPolicy", {"policy": 99, "parameters": None}, -32002),
    "a budget of nothing": ("manager.setPolicy", {"policy": 2, "parameters": {"maxBudget": 0}}, -32002),
}


def test_garbage_is_answered_and_changes_nothing_for_anybody(device: Device) -> None:
    device.take_turns(Policy.BUDGET)
    holder, raw = RemoteApp(device, ASSISTANT, Importance.FOREGROUND), RawApp(device, CAMERA)
    holder.asks(1)
    holder.receives(1, LoadStatus.CAN_LOAD_NOW)
    before = device.models()
    for what, (line, code) in GARBAGE.items():
        assert raw.ask(line)["error"]["code"] == code, what
        assert raw.call("manager.cancelModelLoad", request=_request())["result"] is None, what
    for what, (method, params, code) in MISUSED.items():
        assert raw.call(method, **params)["error"]["code"] == code, what
    assert device.models() == before
    assert raw.call("manager.requestCanLoadModel", request=_request(), callback=-1)["result"] is None
    eventually(lambda: {model.uid for model in device.models()} == {ASSISTANT, CAMERA})
    raw.close()
    eventually(lambda: device.models() == before)
    holder.receives(1, LoadStatus.CAN_LOAD_NOW)


def test_a_line_over_the_limit_costs_the_connection_that_sent_it_alone(device: Device) -> None:
    device.take_turns(Policy.BUDGET)
    raw, waiting = RawApp(device, CAMERA), RemoteApp(device, ASSISTANT)
    raw.call("manager.requestCanLoadModel", request=_request(size=int(LARGE)), callback=-1)
    waiting.asks(1)
    waiting.receives(1, LoadStatus.NOT_PRIORITIZED)
    # More than a last read over the limit and the socket's buffer hold together: the end is still being sent.
    with pytest.raises(OSError, match=r"Broken pipe|reset"):
        raw.socket.sendall(bytes(LINE_LIMIT + 2**24))
    waiting.receives(1, LoadStatus.NOT_PRIORITIZED, LoadStatus.CAN_LOAD_NOW)
    raw.close()


def test_half_a_line_holds_nobody_up(device: Device) -> None:
    raw, other = RawApp(device, CAMERA), RemoteApp(device, ASSISTANT)
    raw.socket.sendall(b'{"jsonrpc": "2.0", "id": 5, "meth')
    other.asks(1)
    other.receives(1, LoadStatus.CAN_LOAD_NOW)
    raw.close()


class Hal(Scheduling):
    """Keeps the newest priority of each uid, and the manager's callback."""

    def __init__(self) -> None:
        self.priorities: dict[int, int] = {}
        self.callback: SchedulingCallback | None = None

    def set_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        self.priorities = {config.uid: config.priority for config in configs}

    def update_scheduling_configs(self, configs: tuple[SchedulingConfig, ...]) -> None:
        self.priorities |= {config.uid: config.priority for config in configs}

    def set_callback(
        self, callback: SchedulingCallback | None, debounce_duration_ms: int = DEBOUNCE_DURATION_MS
    ) -> None:
        self.callback = callback


def _connect_elsewhere(device: Device, hal: Hal) -> Callable[[], None]:
    """Give the manager a HAL on a connection of its own, which serves it; return what kills it."""
    owner = open_subject(device.process.address)
    assert isinstance(owner, RemoteSubject)
    assert owner.interfaces.manager_control is not None
    owner.interfaces.manager_control.connect_hal(hal)

    def live() -> None:
        with suppress(CaseEnded):
            owner.wait_until(lambda: False, SECONDS)

    life = threading.Thread(target=live)
    life.start()

    def kill() -> None:
        owner.connection.lines.socket.shutdown(socket.SHUT_RDWR)
        life.join()
        owner.close()

    return kill


def test_a_hal_in_another_process_dies_and_the_next_gets_everything(device: Device) -> None:
    device.take_turns(Policy.BUDGET)
    device.control.set_importance(CAMERA, Importance.VISIBLE)
    first, second = Hal(), Hal()
    kill_first = _connect_elsewhere(device, first)
    assert first.priorities[CAMERA] == Importance.VISIBLE
    holder, waiting = RemoteApp(device, CAMERA, Importance.VISIBLE), RemoteApp(device, ASSISTANT)
    holder.asks(1)
    waiting.asks(1)
    waiting.receives(1, LoadStatus.NOT_PRIORITIZED)
    kill_first()
    device.control.set_importance(CAMERA, Importance.SERVICE)
    assert {model.uid: model.state for model in device.models()} == {CAMERA: "granted", ASSISTANT: "not prioritized"}
    device.control.connect_hal(second)
    assert second.priorities[CAMERA] == Importance.SERVICE
    assert second.callback is not None
    holder.receives(1, LoadStatus.CAN_LOAD_NOW)
    holder.connection.close()
    waiting.receives(1, LoadStatus.NOT_PRIORITIZED, LoadStatus.CAN_LOAD_NOW)


def test_a_hal_that_hangs_holds_up_no_app(device: Device) -> None:
    undeclared, other = RemoteApp(device, LEGACY, declares=False), RemoteApp(device, ASSISTANT)
    owner, hal = open_subject(device.process.address), Hal()
    assert owner.interfaces.manager_control is not None
    owner.interfaces.manager_control.connect_hal(hal)  # Nobody serves this connection from here on.
    assert LEGACY not in hal.priorities
    undeclared.asks(1)  # from here on the HAL gets its uid
    undeclared.receives(1, LoadStatus.CAN_LOAD_NOW)
    other.asks(1)
    other.receives(1, LoadStatus.CAN_LOAD_NOW)
    assert owner.wait_until(lambda: LEGACY in hal.priorities, SECONDS)
    owner.close()


def test_after_a_kill_of_the_manager_no_capacity_is_lost_and_nobody_stuck(tmp_path: Path, device: Device) -> None:
    device.take_turns()
    device.control.set_importance(OURS, Importance.FOREGROUND)
    with processes.apps("one", "other") as apps:
        one, other = apps
        device.start(one)
        listen([one], lambda: works(one))
        device.start(other)
        listen(apps, lambda: other.has(Kind.DECISION, LoadStatus.NOT_PRIORITIZED))
        device.process.kill()
        listen(apps, lambda: all(app.has(Kind.MANAGER_LOST) for app in apps))
        following = Device(tmp_path, "next.socket")
        try:
            following.take_turns()
            following.path.rename(device.path)
            eventually(lambda: sorted(model.state for model in following.models()) == ["loaded", "not prioritized"])
            loaded = next(model.pid for model in following.models() if model.state == "loaded")
            holder, parked = (one, other) if loaded == one.pid else (other, one)
            holder.kill()
            done = parked.inferences
            listen([parked], lambda: parked.inferences > done + 2)
            assert [(model.pid, model.state) for model in following.models()] == [(parked.pid, "loaded")]
        finally:
            following.close()
