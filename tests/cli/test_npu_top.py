"""`npu-conformance npu top` and `npu shell`: what they show of a manager, and how they end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from patience import SECONDS
from wire_client import served

from npu_conformance.cli.main import main
from npu_conformance.cli.npu import shell as npu_shell
from npu_conformance.cli.npu import top as npu_top
from npu_conformance.cli.npu.top import table
from npu_conformance.simulation.demo.processes import ManagerProcess
from npu_conformance.specs.npu.manager import Manager
from npu_conformance.specs.npu.types import AppSnapshot, ManagerSnapshot, ModelSnapshot, ShellResult


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    process = ManagerProcess("reference", f"unix:{tmp_path_factory.mktemp('npu')}/npu.socket", [], SECONDS)
    yield process.address
    process.close()


def test_top_shows_apps_models_and_budget() -> None:
    snapshot = ManagerSnapshot(
        policy=2,
        used=5,
        ceiling=8,
        apps=(AppSnapshot(10_001, "camera", 100, True, "running", 3), AppSnapshot(10_009, "game", 1000, False)),
        models=(ModelSnapshot(10_001, 42, 7, 2, 0, "loaded", 4), ModelSnapshot(10_777, 43, 1, 9, 0, "granted", 1)),
    )
    assert table(snapshot).splitlines() == [
        "policy: budget, 5 of 8 used",
        "UID    APP     PRIORITY  WORK     DONE  MODEL  PID  SIZE  STATE    WEIGHT",
        "10001  camera  100       running  3     7      42   >2GB  loaded   4",
        "10009  game    1000      blocked  0     -      -    -     -        -",
        "10777          -         -        -     1      43   9     granted  1",
    ]


def test_shell_commands_speak_to_the_manager(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*words: str) -> tuple[int, str]:
        code = main(["npu", *words])
        return code, capsys.readouterr().out

    for command, policy in (
        ("set-turn-taking-policy", "turn taking, 0 of 1 used"),
        ("set-budget-policy", "budget, 0 of 4 used"),
        ("set-status-quo-policy", "status quo, no budget"),
    ):
        assert run("shell", address, command) == (0, "")
        assert run("top", address, "--once")[1].startswith(f"policy: {policy}\n")
    code, text = run("shell", address, "info")
    assert (code, text.splitlines()[0]) == (0, "Policy: statusquo")
    assert [run("shell", address, *words)[0] for words in ((), ("nonsense",), ("info", "more"))] == [1, 1, 1]
    assert run("shell", address)[1].startswith("usage: cmd npu")
    assert run("shell", address, "disable") == (1, "disable: only root may do this, not uid 2000\n")
    assert run("shell", "--root", address, "disable") == (0, "")
    assert run("shell", "--root", address, "enable") == (0, "")


@pytest.mark.parametrize("words", [["top", "--once"], ["shell", "info"]])
def test_a_terminal_only_shows_what_a_manager_sends(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Hostile(Manager):
        def dump(self) -> str:
            return "x\x1b[2Jy\n"

        def shell_command(self, arguments: tuple[str, ...]) -> ShellResult:
            return ShellResult(0, self.dump())

    interfaces = SimpleNamespace(manager=Hostile(), manager_control=None)
    subject = SimpleNamespace(interfaces=interfaces, application=lambda uid: SimpleNamespace(interfaces=interfaces))
    for module in (npu_top, npu_shell):
        monkeypatch.setattr(module, "reached", lambda *_: contextlib.nullcontext(subject))
    assert main(["npu", words[0], "unix:/manager", *words[1:]]) == 0
    assert "x\\x1b[2Jy\n" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["top", "--once"], ["shell", "info"]])
def test_a_manager_that_cannot_answer_is_told_of_in_one_line(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interfaces = SimpleNamespace(manager=Manager(), manager_control=None)
    subject = SimpleNamespace(interfaces=interfaces, application=lambda uid: SimpleNamespace(interfaces=interfaces))
    for module in (npu_top, npu_shell):
        monkeypatch.setattr(module, "reached", lambda *_: contextlib.nullcontext(subject))
    assert main(["npu", words[0], "unix:/manager", *words[1:]]) == 1
    told = capsys.readouterr().err
    assert told.startswith("unix:/manager: Manager.")
    assert told.count("\n") == 1


def test_a_plug_in_that_prints_and_a_long_path_are_in_nobodys_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "talks.py").write_text("print('driver 1.0')\nfrom npu_conformance.adapters.reference import plugin\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    (tmp_path / ("long" * 30)).mkdir()
    address = f"unix:{tmp_path}/{'long' * 30}/npu.socket"
    process = ManagerProcess("talks:plugin", address, [], SECONDS)
    try:
        assert process.address == address
        assert main(["npu", "shell", address, "info"]) == 0
        assert capsys.readouterr().out.startswith("Policy: ")
    finally:
        process.close()


@pytest.fixture
def top(address: str) -> Iterator[subprocess.Popen[str]]:
    """A top that has shown its first table."""
    command = [sys.executable, "-m", "npu_conformance", "npu", "top", address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("policy: ")
        yield process
        process.kill()


def test_top_ends_clean_when_interrupted(top: subprocess.Popen[str]) -> None:
    top.send_signal(signal.SIGINT)
    _, errors = top.communicate(timeout=SECONDS)
    assert (top.returncode, errors) == (0, "")


def test_top_says_that_the_manager_has_died(tmp_path: Path) -> None:
    process = ManagerProcess("reference", f"unix:{tmp_path}/npu.socket", [], SECONDS)
    command = [sys.executable, "-m", "npu_conformance", "npu", "top", process.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        assert following.stdout.readline().startswith("policy: ")
        process.close()
        _, errors = following.communicate(timeout=SECONDS)
    assert following.returncode == 1
    assert errors.startswith(f"{process.address}: ")
    assert errors.count("\n") == 1


def test_who_is_nobody_gets_no_answer(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with served("reference", "tcp", tmp_path) as (address, options):
        for command in (["top", address, "--once"], ["shell", address, "set-budget-policy"]):
            assert main(["npu", *command]) == 2
            assert "needs a key or a ticket" in capsys.readouterr().err
        assert main(["npu", "top", address, "--once", "--key-file", options["key-file"]]) == 0
