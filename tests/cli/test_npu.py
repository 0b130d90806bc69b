"""`npu-conformance npu`: a take-over by real processes, its judge, and its timeline."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from patience import SECONDS

from npu_conformance.cli.main import main
from npu_conformance.simulation.demo import processes, sharing, takeover
from npu_conformance.simulation.demo.reports import AppEvent, Kind
from npu_conformance.simulation.demo.takeover import Transcript, problems

PLUGIN = """
import os
from dataclasses import replace
from npu_conformance.adapters.reference import plugin as reference
from npu_conformance.reference.device.executor import Executor
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.npu.manager import Manager
from npu_conformance.specs.npu.types import ShellResult
from npu_conformance.specs.plugin import Plugin

class Generous(Manager):
    def __init__(self, inner):
        self.request_can_load_model, self.cancel_model_load = inner.request_can_load_model, inner.cancel_model_load
    def shell_command(self, arguments):
        return ShellResult(0)

def generous(context):
    subject = reference.create(context)
    return replace(subject, manager=Generous(subject.manager))

def wrong(context):
    run = Executor.run
    Executor.run = lambda *arguments: [output + 1 for output in run(*arguments)]
    return reference.create(context)

def without(context):
    return replace(reference.create(context), manager_control=None)

def dying(context):
    subject = reference.create(context)
    subject.manager_control.install_app = lambda *arguments: os._exit(1)
    return subject

def fair(context):
    return replace(reference.create(context), device=ReferenceDevice(context))

plugins = (Plugin(reference.manifest, create) for create in (generous, wrong, without, dying, fair))
generous, wrong, without, dying, fair = plugins
"""


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plug-ins that are not as they should be, for processes."""
    (tmp_path / "not_right.py").write_text(PLUGIN)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")


def plugged(name: str) -> list[str]:
    """The options for one of them."""
    return ["--plugin", f"not_right:{name}", "--plugin-option", "clock=real"]


def spans_of(events: list[dict[str, Any]]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The spans of a trace by the names of process and track, in order."""
    names = {(e["pid"], e["tid"], e["name"]): e["args"]["name"] for e in events if e["ph"] == "M"}
    found = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            app = names[event["pid"], 0, "process_name"]
            found[app, names[event["pid"], event["tid"], "thread_name"]].append(event)
    return found


def check_tracks(spans: dict[tuple[str, str], list[Any]]) -> None:
    """No two spans of a track overlap."""
    for track in spans.values():
        ends = [span["ts"] + span["dur"] for span in track]
        assert all(end <= span["ts"] + 0.001 for end, span in zip(ends, track[1:], strict=False))


def check_inferences(inferences: list[Any], loaded: list[Any]) -> None:
    """Five inferences at least, in order, each of them while its process has the model loaded."""
    assert [span["name"] for span in inferences] == [f"inference {n}" for n in range(1, len(inferences) + 1)]
    assert len(inferences) >= 5
    for span in inferences:
        assert any(has["ts"] <= span["ts"] <= has["ts"] + has["dur"] for has in loaded if has["pid"] == span["pid"])


def check_sharing(background: list[Any], foreground: list[Any]) -> None:
    """The app in the background steps aside for the one in the foreground, and goes on."""
    assert {"works, then paused", "paused"} <= {span["name"] for span in background}
    assert background[-1]["name"] == "works, then completed"
    assert "works, then completed" in [span["name"] for span in foreground]
    assert "paused" not in [span["name"] for span in foreground]


def test_the_camera_takes_over_and_the_timeline_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "trace.json"
    assert main(["npu", "demo", "--inferences", "5", "--trace", str(trace)]) == 0
    printed = capsys.readouterr()
    assert "assistant  is asked to unload" in printed.out
    assert printed.out.endswith("the camera took over, and the assistant came back\n")
    assert printed.err == ""
    events = json.loads(trace.read_text())
    spans = spans_of(events)
    assert [span["name"] for span in spans["assistant", "model"]] == [
        *("asks", "loads", "loaded", "unloads"),
        *("asks", "not prioritized", "loads", "loaded"),
    ]
    assert [span["name"] for span in spans["camera", "model"]][-2:] == ["loads", "loaded"]
    check_tracks(spans)
    for app in ("assistant", "camera"):
        check_inferences(spans[app, "inferences"], [span for span in spans[app, "model"] if span["name"] == "loaded"])
    assert max(event["args"]["used"] for event in events if event["ph"] == "C") == 4
    assert [event["name"] for event in events if event["ph"] == "i"] == [
        "the user opens the camera",
        "the user closes the camera",
        "the user opens the translator",
        "the user closes the translator",
    ]
    check_sharing(spans["gallery", "NPU"], spans["translator", "NPU"])


NEVER_REFUSES = "generous"


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch, plugin: str) -> None:
    """Demos that go wrong: what never comes is not waited for long, and what is shared is seen after less work."""
    listen = processes.listen

    def listening(step: str, apps: Any, until: Any, seconds: float, receive: Any) -> None:
        never_comes = plugin == NEVER_REFUSES and step == "the camera is refused"
        listen(step, apps, until, 0.2 if never_comes else seconds, receive)

    monkeypatch.setattr(takeover, "listen", listening)
    monkeypatch.setattr(sharing, "_INFERENCES", 6)


@pytest.mark.parametrize(
    ("plugin", "complaint"),
    [
        (NEVER_REFUSES, "wrong: waited 0.2 s without success: the camera is refused"),
        ("wrong", "wrong: assistant died: Failed: inference 1, output"),
        ("dying", "wrong: managerControl.installApp: "),
        ("fair", "wrong: the gallery in the background had "),
    ],
)
@pytest.mark.usefixtures("plugins", "short")
def test_no_take_over_and_wrong_outputs_are_wrong(
    plugin: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["npu", "demo", "--inferences", "2", "--seconds", str(SECONDS), *plugged(plugin)]) == 1
    printed = capsys.readouterr()
    assert complaint in printed.err
    assert printed.out.endswith("no take-over\n")


@pytest.mark.usefixtures("plugins")
def test_a_plugin_that_can_not_play_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["npu", "demo", *plugged("without")]) == 2
    told = "the plug-in needs a device, a manager, and what steers it; it has no manager_control\n"
    assert told in capsys.readouterr().err
    assert main(["npu", "demo", "--plugin-option", "clock=virtual"]) == 2
    assert "the plug-in's clock is virtual" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["demo", "--inferences", "0"], "--inferences: expected a positive number, found 0"),
        (["demo", "--trace", "/nowhere/trace.json"], "/nowhere/trace.json: cannot be written"),
        (
            ["simulate", "--apps", "2", "--minutes", "1", "--html", "/nowhere/x.html"],
            "/nowhere/x.html: cannot be written",
        ),
        (["demo", "--plugin", "nonsense"], "plug-in nonsense: its process has ended before it listened"),
        (["top", "unix:/nowhere/npu.socket", "--once"], "cannot connect to unix:/nowhere/npu.socket"),
        (["top", "reference", "--once"], "not an address: 'reference'"),
        (["shell", "unix:/nowhere/npu.socket", "info"], "cannot connect to unix:/nowhere/npu.socket"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["npu", *words]) == 2
    printed = capsys.readouterr()
    assert complaint in printed.err
    assert printed.out == "" or words[0] != "simulate"


def transcript() -> Transcript:
    """A take-over as it should be, one thing every millisecond."""
    complete = Transcript()
    steps: list[tuple[str, Kind, int | None, int]] = [
        ("assistant", Kind.LOADED, None, 0),
        ("assistant", Kind.INFERENCE, None, 1),
        ("camera", Kind.DECISION, 2, 0),
        ("assistant", Kind.UNLOAD_ASKED, 0, 0),
        ("assistant", Kind.UNLOADED, None, 0),
        ("camera", Kind.DECISION, 0, 0),
        ("camera", Kind.LOADED, None, 0),
        ("camera", Kind.INFERENCE, None, 1),
        ("camera", Kind.UNLOADED, None, 0),
        ("assistant", Kind.LOADED, None, 0),
        ("assistant", Kind.INFERENCE, None, 2),
    ]
    for index, (who, kind, status, number) in enumerate(steps):
        event = AppEvent(kind=kind, time_ns=index * 1_000_000, status=status, number=number)
        complete.events.append((who, event))
    return complete


def test_a_transcript_without_one_of_its_steps_is_no_take_over() -> None:
    assert problems(transcript(), 1) == []
    for index in (1, 2, 3, 4, 5, 7, 8, 9, 10):
        complete = transcript()
        del complete.events[index]
        assert problems(complete, 1), f"without step {index}"
    complete = transcript()
    complete.events.append(("camera", AppEvent(kind=Kind.FAILED, time_ns=99, message="output y: off")))
    assert problems(complete, 1) == ["failed: output y: off"]


def test_two_models_at_once_are_no_take_over() -> None:
    complete = transcript()
    complete.events.insert(2, ("camera", AppEvent(kind=Kind.LOADED, time_ns=1_500_000)))
    assert problems(complete, 1) == ["both models were loaded at once, which the budget forbids"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 3), (signal.SIGKILL, -signal.SIGKILL)])
def test_whatever_ends_the_demo_ends_its_processes(number: signal.Signals, code: int) -> None:
    """Its output ends when all that can write there have ended, the server and the apps among them."""
    words = ["npu", "demo", "--inferences", "1000000", "--seconds", str(SECONDS)]
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is too long for the name of a socket
        demo = subprocess.Popen(
            [sys.executable, "-m", "npu_conformance", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": folder},
        )  # fmt: skip
        assert demo.stdout is not None
        told = [demo.stdout.readline() for _ in range(4)]
        demo.send_signal(number)
        out, errors = demo.communicate(timeout=SECONDS)
        left = os.listdir(folder)
    assert demo.returncode == code, errors
    assert "asks to load" in "".join(told)
    assert "Traceback" not in out + errors
    assert not left or number == signal.SIGKILL


def test_the_demo_listens_where_nobody_else_gets_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["npu", "demo", "--listen", "tcp:127.0.0.1:0"]) == 2
    assert "--listen: expected unix:PATH, found 'tcp:127.0.0.1:0'" in capsys.readouterr().err
