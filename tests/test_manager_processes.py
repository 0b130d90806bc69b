"""The manager as a process of its own, with apps in other processes: who they are, how they die, and how it dies."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from npu_conformance.harness.loading import open_subject
from npu_conformance.harness.remote_subject import RemoteSubject
from npu_conformance.mlts.connection import ClientSubject, ticket_of
from npu_conformance.mlts.npu import processes
from npu_conformance.mlts.npu.processes import AppProcess, GoneError, ManagerProcess
from npu_conformance.mlts.npu.reports import ASK, AppPlan, Kind
from npu_conformance.specs import vectors
from npu_conformance.specs.npu.manager import ManagerControl, ModelLoadRequestCallback
from npu_conformance.specs.npu.types import (
    PERMISSION,
    CompletionStatus,
    Importance,
    LoadStatus,
    ModelLoadRequest,
    ModelSnapshot,
    Policy,
    UnloadReason,
)
from npu_conformance.specs.vectors import VectorHeader
from npu_conformance.specs.versions import NEWEST

SECONDS = 60.0
CAMERA, ASSISTANT = 10_001, 10_002
OURS = os.getuid()


class Device:
    """A running manager and driver, and a control connection to it."""

    def __init__(self, folder: Path, name: str = "npu.socket") -> None:
        self.path = folder / name
        self.process = ManagerProcess("reference", f"unix:{self.path}", ["clock=real"], SECONDS)
        subject = open_subject(self.process.address)
        assert isinstance(subject, RemoteSubject)
        self.subject = subject
        for uid in (OURS, CAMERA, ASSISTANT):
            self.control.install_app(uid, f"app{uid}", True, 37)
            self.control.grant_permission(uid, PERMISSION, True)

    @property
    def control(self) -> ManagerControl:
        """What steers it."""
        control = self.subject.interfaces.manager_control
        assert control is not None
        return control

    def take_turns(self, policy: Policy = Policy.TURN_TAKING) -> None:
        """One model at a time, or another policy."""
        manager = self.subject.interfaces.manager
        assert manager is not None
        manager.set_policy(policy, None)

    def models(self) -> tuple[ModelSnapshot, ...]:
        """The live requests."""
        return self.control.take_snapshot().models

    def start(self, app: AppProcess, uid: int | None = None) -> None:
        """Let an app connect, and ask for its model; null: as the kernel knows it."""
        found = ticket_of(self.subject, uid, app.pid) if uid is not None else (self.process.address, None)
        model = _model()
        app.start(
            AppPlan(
                address=found[0], ticket=found[1], transports=("path", "descriptor", "message"), version=NEWEST,
                first_request=app.pid, operation=model.operation, vector=model.name,
            )
        )  # fmt: skip
        app.tell(ASK)

    def close(self) -> None:
        """End it."""
        self.subject.close()
        self.process.close()


def _model() -> VectorHeader:
    return next(each for each in vectors.headers("ADD") if each.rejected is None and not each.relaxed)


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Device]:
    found = Device(tmp_path)
    yield found
    found.close()


def listen(apps: list[AppProcess], until: Callable[[], bool]) -> None:
    """Wait until the apps have said what is expected."""
    processes.listen("what the test expects", apps, until, SECONDS, lambda app, event: None)


def wait_for(predicate: Callable[[], bool]) -> None:
    """Wait for what the manager notices by itself."""
    deadline = time.monotonic() + SECONDS
    while not predicate():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.002)


def works(app: AppProcess) -> bool:
    """True where it has loaded its model and run inferences."""
    return app.has(Kind.LOADED) and app.inferences > 2


def test_apps_are_known_by_the_process_at_the_other_end_and_die_alone(device: Device) -> None:
    with processes.apps("one", "other") as apps:
        one, other = apps
        for app in apps:
            device.start(app)
        listen(apps, lambda: all(map(works, apps)))
        assert {(model.uid, model.pid, model.state) for model in device.models()} == {
            (OURS, one.pid, "loaded"),
            (OURS, other.pid, "loaded"),
        }
        one.kill()
        wait_for(lambda: [model.pid for model in device.models()] == [other.pid])
        done = other.inferences
        listen([other], lambda: other.inferences > done)


@pytest.mark.skipif(OURS != 0, reason="only root can be somebody else")
def test_a_connection_of_another_user_is_another_app(tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(0o755)
    device = Device(tmp_path)
    device.path.chmod(0o666)
    os.seteuid(CAMERA)
    try:
        camera = ClientSubject(device.process.address, None, ("message",), NEWEST)
    finally:
        os.seteuid(0)
    try:
        assert camera.interfaces.manager is not None
        camera.interfaces.manager.request_can_load_model(ModelLoadRequest(7), ModelLoadRequestCallback())
        assert [(model.uid, model.pid, model.id) for model in device.models()] == [(CAMERA, os.getpid(), 7)]
        camera.close()
        wait_for(lambda: device.models() == ())
    finally:
        device.close()


def test_a_killed_app_leaves_its_room_to_the_next_and_hears_nothing_more(device: Device) -> None:
    device.take_turns()
    device.control.set_importance(CAMERA, Importance.FOREGROUND)  # equals would take turns
    with processes.apps("camera", "assistant") as apps:
        camera, assistant = apps
        device.start(camera, CAMERA)
        listen([camera], lambda: works(camera))
        device.start(assistant, ASSISTANT)
        listen(apps, lambda: assistant.has(Kind.DECISION, LoadStatus.NOT_PRIORITIZED))
        camera.kill()
        listen([assistant], lambda: works(assistant))
        assert [(model.uid, model.state) for model in device.models()] == [(ASSISTANT, "loaded")]
        assert not any(event.kind in (Kind.COMPLETE, Kind.UNLOAD_ASKED) for event in camera.events + assistant.events)


def test_an_app_that_hangs_loses_its_room_and_delays_nobody(device: Device) -> None:
    device.take_turns()
    device.control.set_unload_timeout(50_000_000)
    with processes.apps("assistant", "camera") as apps:
        assistant, camera = apps
        device.start(assistant, ASSISTANT)
        listen([assistant], lambda: works(assistant))
        assistant.hang()
        device.control.set_importance(CAMERA, Importance.FOREGROUND)
        device.start(camera, CAMERA)
        listen([camera], lambda: works(camera))
        statuses = [event.status for event in camera.events if event.kind is Kind.DECISION]
        assert statuses == [LoadStatus.WAIT_FOR_UNLOAD, LoadStatus.CAN_LOAD_NOW]


def test_a_weaker_app_unloads_when_it_is_asked_and_comes_back(device: Device) -> None:
    device.take_turns()
    with processes.apps("assistant", "camera") as apps:
        assistant, camera = apps
        device.start(assistant, ASSISTANT)
        listen([assistant], lambda: works(assistant))
        device.control.set_importance(CAMERA, Importance.FOREGROUND)
        device.start(camera, CAMERA)
        listen(apps, lambda: works(camera) and assistant.has(Kind.COMPLETE, CompletionStatus.COMPLETE))
        assert assistant.has(Kind.UNLOAD_ASKED, UnloadReason.FOREGROUND_PREEMPTION)
        done = assistant.inferences
        camera.kill()
        listen([assistant], lambda: assistant.inferences > done)


def test_a_new_policy_ends_all_requests_and_apps_ask_again(device: Device) -> None:
    device.take_turns()
    device.control.set_importance(CAMERA, Importance.FOREGROUND)
    with processes.apps("camera", "assistant") as apps:
        camera, assistant = apps
        device.start(camera, CAMERA)
        listen([camera], lambda: works(camera))
        device.start(assistant, ASSISTANT)
        listen(apps, lambda: assistant.has(Kind.DECISION, LoadStatus.NOT_PRIORITIZED))
        device.take_turns(Policy.STATUS_QUO)
        listen(apps, lambda: all(app.has(Kind.COMPLETE, CompletionStatus.CANCELLED) for app in apps))
        assert camera.has(Kind.UNLOAD_ASKED, UnloadReason.POLICY_CHANGE)
        listen(apps, lambda: all(app.events[-1].kind is Kind.LOADED for app in apps))
        wait_for(lambda: [model.state for model in device.models()] == ["loaded", "loaded"])


def test_apps_outlive_their_manager_and_ask_the_next_which_knows_nothing(tmp_path: Path, device: Device) -> None:
    with processes.apps("one", "other") as apps:
        for app in apps:
            device.start(app)
        listen(apps, lambda: all(map(works, apps)))
        device.process.kill()
        listen(apps, lambda: all(app.has(Kind.MANAGER_LOST) for app in apps))
        following = Device(tmp_path, "next.socket")
        try:
            assert following.models() == ()
            following.path.rename(device.path)
            listen(apps, lambda: all(app.events[-1].kind is Kind.LOADED for app in apps))
            assert {model.pid for model in following.models()} == {app.pid for app in apps}
        finally:
            following.close()


def test_an_app_with_a_ticket_ends_with_its_manager(device: Device) -> None:
    with processes.apps("camera") as (camera,):
        device.start(camera, CAMERA)
        listen([camera], lambda: works(camera))
        device.process.kill()
        with pytest.raises(GoneError, match="camera died: Crashed: the manager died, and with it this app's ticket"):
            listen([camera], lambda: False)


def test_a_plugin_that_does_not_listen_is_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(GoneError, match="plug-in nonsense: its process did not listen"):
        ManagerProcess("nonsense", f"unix:{tmp_path}/npu.socket", [], SECONDS)
    assert "nonsense" in capfd.readouterr().err
