"""The manager as a process of its own, with apps in other processes: their identities and deaths, and its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from npu_processes import ASSISTANT, CAMERA, OURS, Device, listen, small_model, works
from patience import SECONDS, eventually

from npu_conformance.corpus import vectors
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run import repeated_inference
from npu_conformance.harness.run.app_connection import ClientSubject, ticket_of
from npu_conformance.harness.subject import private_directory
from npu_conformance.simulation.demo import processes
from npu_conformance.simulation.demo.processes import GoneError, ManagerProcess
from npu_conformance.simulation.demo.reports import Kind
from npu_conformance.specs.npu.manager import ModelLoadRequestCallback
from npu_conformance.specs.npu.types import (
    CompletionStatus,
    Importance,
    LoadStatus,
    ModelLoadRequest,
    Policy,
    UnloadReason,
)
from npu_conformance.specs.versions import NEWEST

GALLERY = 10_003


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Device]:
    found = Device(tmp_path)
    yield found
    found.close()


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
        eventually(lambda: [model.pid for model in device.models()] == [other.pid])
        done = other.inferences
        listen([other], lambda: other.inferences > done)


def test_an_app_that_declares_nothing_is_refused_by_the_device(device: Device) -> None:
    device.control.install_app(GALLERY, "gallery", False, 37)
    address, ticket = ticket_of(device.subject, GALLERY, os.getpid())
    gallery = ClientSubject(address, ticket, ("message",), NEWEST)
    try:
        inferences = repeated_inference.infer(gallery, vectors.load("ADD", small_model().name), 3)
        assert next(inferences) == 0
        with pytest.raises(Failed, match="inference 1: expected NONE, found GENERAL_FAILURE"):
            next(inferences)
        device.control.install_app(GALLERY, "gallery", True, 37)
        device.control.set_importance(GALLERY, Importance.FOREGROUND)
        assert list(repeated_inference.infer(gallery, vectors.load("ADD", small_model().name), 3)) == [0, 1, 2, 3]
    finally:
        gallery.close()


@pytest.mark.skipif(OURS != 0, reason="only root can be somebody else")
def test_a_connection_of_another_user_is_another_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setattr(private_directory, "_SHARED_MEMORY", str(shared))  # what another user makes, root leaves alone
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
        eventually(lambda: device.models() == ())
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
        eventually(lambda: [model.state for model in device.models()] == ["loaded", "loaded"])


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
    with pytest.raises(GoneError, match="plug-in nonsense: its process has ended before it listened"):
        ManagerProcess("nonsense", f"unix:{tmp_path}/npu.socket", [], SECONDS)
    assert "nonsense" in capfd.readouterr().err
