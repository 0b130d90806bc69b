"""A device that somebody else starts: after its death a command brings it back, or it comes back by itself."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import HOSTILE, ROOT
from wire_client import environment

from npu_conformance.cli.main import main
from npu_conformance.harness.judge.verdicts import Crashed, Hung
from npu_conformance.harness.run.session_options import SessionOptions
from npu_conformance.harness.subject.loading import Handling, LoadError, open_subject
from npu_conformance.harness.subject.remote import RemoteSubject
from npu_conformance.harness.subject.reset import Reset, given_reset, reset_of
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.manifest import Manifest

_LIMIT = 60.0


class Board:
    """A board on a socket, and the command that starts it again."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "log"
        self.address = f"unix:{folder / 'socket'}"
        self.command = (sys.executable, str(HOSTILE / "board.py"), str(folder / "socket"), str(self.log))
        self.reset = Reset(self.command, _LIMIT)

    def start(self, **variables: str) -> None:
        subprocess.run(self.command, check=True, env={**os.environ, **variables})

    @property
    def servers(self) -> list[int]:
        """The numbers of all that were started, in their order."""
        return [int(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def end(self) -> None:
        for server in self.servers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(server, signal.SIGKILL)


@pytest.fixture
def board() -> Iterator[Board]:
    """Its folder has a short name: that of a socket has room for a hundred characters."""
    with tempfile.TemporaryDirectory() as folder:
        found = Board(Path(folder))
        yield found
        found.end()


@contextlib.contextmanager
def crashed(board: Board, reset: Reset | None) -> Iterator[RemoteSubject]:
    """A subject whose board has just died."""
    subject = open_subject(board.address, handling=Handling(reset=reset))
    assert isinstance(subject, RemoteSubject)
    assert subject.interfaces.device is not None
    with contextlib.closing(subject):
        with pytest.raises(
            Crashed, match="the harness did not start this process: why it ended, if it did, is reported where"
        ):
            subject.interfaces.device.get_type()
        yield subject


def version_of(subject: RemoteSubject) -> str:
    assert subject.interfaces.device is not None
    return subject.interfaces.device.get_version_string()


def test_the_command_brings_it_back(board: Board) -> None:
    board.start()
    with crashed(board, board.reset) as subject:
        subject.restart()
        assert version_of(subject) == "board"
    assert len(board.servers) == 2


def test_the_command_brings_back_what_hangs(board: Board) -> None:
    board.start(DEADLINE="0.5")
    with contextlib.closing(open_subject(board.address, handling=Handling(reset=board.reset))) as subject:
        assert subject.interfaces.device is not None
        with pytest.raises(Hung):
            subject.interfaces.device.get_status()
        subject.restart()
        assert subject.interfaces.device.get_version_string() == "board"
    assert len(board.servers) == 2


def test_a_new_connection_to_what_lives_needs_no_command(board: Board) -> None:
    board.start()
    with contextlib.closing(open_subject(board.address, handling=Handling(reset=board.reset))) as subject:
        subject.restart()
    assert len(board.servers) == 1


def test_one_that_comes_back_by_itself_is_waited_for(board: Board) -> None:
    board.start()
    while not board.servers:
        time.sleep(0.01)
    guard = f"while kill -0 {board.servers[0]} 2>/dev/null; do sleep 0.02; done; sleep 0.2; {shlex.join(board.command)}"
    with subprocess.Popen(["sh", "-c", guard]), crashed(board, None) as subject:
        subject.restart()
        assert version_of(subject) == "board"
    assert len(board.servers) == 2


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("", r"cannot connect to unix:.*; where a command can bring it back, give it with --reset-command"),
        ("reboot", r"the manifest names a reset_command, which is not run .*: give it with --reset-command"),
    ],
)
def test_one_that_does_not_come_back_is_given_up_with_a_hint(board: Board, named: str, words: str) -> None:
    board.start(DEADLINE="0.2", RESET=named)
    with crashed(board, None) as subject, pytest.raises(LoadError, match=words):
        subject.restart()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo all well; echo no power >&2; exit 3", "the reset command ended with status 3: no power"),
        ("exit 4", "the reset command ended with status 4: no message"),
        ("kill -9 $$", "the reset command ended with status -9: no message"),
    ],
)
def test_a_command_that_fails_is_told(board: Board, script: str, words: str) -> None:
    board.start()
    with crashed(board, Reset(("sh", "-c", script), _LIMIT)) as subject, pytest.raises(LoadError, match=f"^{words}$"):
        subject.restart()


def test_a_command_that_is_not_there_is_told() -> None:
    with pytest.raises(LoadError, match=r"^the reset command cannot be started: .*no-such-command"):
        Reset(("no-such-command",), 1.0).run()


def test_a_command_that_takes_too_long_is_ended_with_what_it_started(tmp_path: Path) -> None:
    started = tmp_path / "started"
    script = f"sleep 1000 & echo $! > {started}.part; mv {started}.part {started}; wait"
    with pytest.raises(LoadError, match=r"^the reset command has not ended within 0\.5 s$"):
        Reset(("sh", "-c", script), 0.5).run()
    child = int(started.read_text())
    until = time.monotonic() + _LIMIT
    while _runs(child):
        assert time.monotonic() < until
        time.sleep(0.01)


def _runs(process: int) -> bool:
    """False where it has ended, also where nobody has asked for its status."""
    try:
        return " Z " not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2][:3]
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_plug_in_that_is_loaded_here_may_name_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HOSTILE))
    subject = open_subject("faulty_plugins:resettable", {"file": str(tmp_path / "reset")})
    assert subject.interfaces.device is not None
    with contextlib.closing(subject):
        with pytest.raises(Crashed):
            subject.interfaces.device.get_type()
        assert not (tmp_path / "reset").exists()
        subject.restart()
        assert (tmp_path / "reset").exists()
        assert subject.interfaces.device.get_version_string() == "fine"


def test_whose_command_counts() -> None:
    named, plain = (Manifest(name="x", vendor="v", version="1", reset_command=words) for words in (("true",), ()))
    given = Reset(("false",), 1.0)
    assert reset_of(named, None, is_loaded_here=True) == Reset(("true",), named.reset_seconds)
    assert reset_of(named, None, is_loaded_here=False) is None
    assert reset_of(plain, None, is_loaded_here=True) is None
    assert reset_of(named, given, is_loaded_here=True) == given


@pytest.mark.parametrize("given", [Reset(("./reset.sh",), 1.0), None])
def test_a_command_that_cannot_be_started_is_refused_at_once(given: Reset | None, tmp_path: Path) -> None:
    source = "the manifest: reset_command" if given is None else "--reset-command"
    named = Manifest(name="x", vendor="v", version="1", reset_command=("./reset.sh",))
    with pytest.raises(LoadError, match=f"^{source}: no command ./reset.sh$"):
        reset_of(named, given, is_loaded_here=True)


def test_what_a_driver_below_the_runtime_names_is_not_run(board: Board, tmp_path: Path) -> None:
    board.start(RESET=f"touch {tmp_path / 'ran'}")
    subject = open_subject(f"stacked:{board.address}")
    assert isinstance(subject, RemoteSubject)
    with contextlib.closing(subject):
        os.kill(subject.process(), signal.SIGKILL)
        with pytest.raises(Crashed):
            subject.ping()
        subject.restart()
        assert not (tmp_path / "ran").exists()


def test_a_run_goes_on_behind_the_death_of_the_device(board: Board, tmp_path: Path) -> None:
    board.start()
    words = ("--plugin", board.address, "--reset-command", shlex.join(board.command), "--report", str(tmp_path / "r"))
    assert main(("run", "vts.queries.type.legal", "vts.queries.version_string.*", "-q", *words)) == 1
    events = [json.loads(line) for line in (tmp_path / "r" / "events.jsonl").read_text().splitlines()]
    found = {each["result"]["case"]: each["result"]["outcome"] for each in events if each["event"] == "case-finished"}
    assert found.pop("vts.queries.type.legal") == "crash"
    assert found
    assert set(found.values()) == {"pass"}


def test_pytest_has_options_of_its_own_for_it(tmp_path: Path) -> None:
    words = ["-p", "no:cacheprovider", "--npu-plugin=reference", str(ROOT / "vts" / "queries.py"), "-k", "ping"]
    chosen = ["--npu-reset-command=true", "--npu-reset-seconds=7"]
    found = subprocess.run(
        [sys.executable, "-m", "pytest", *words, *chosen],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=_LIMIT, check=False,
    )  # fmt: skip
    assert "--plugin reference --reset-command true --reset-seconds 7\n" in found.stdout, found.stdout


def test_a_command_as_on_a_command_line() -> None:
    assert given_reset(None, None) is None
    assert given_reset("adb 're boot'", None) == Reset(("adb", "re boot"), 120.0)
    assert given_reset("up", 3.5) == Reset(("up",), 3.5)
    options = SessionOptions("reference", reset_command="up now", reset_seconds=3.5)
    assert options.plugin_words == "--plugin reference --reset-command 'up now' --reset-seconds 3.5"


@pytest.mark.parametrize(
    ("line", "seconds", "rule"),
    [
        ("", None, "--reset-command: expected a command, found none"),
        ("'", None, '--reset-command: No closing quotation: "\'"'),
        ("up", 0.0, "--reset-seconds: expected a positive number of seconds, found 0"),
        ("up", float("nan"), "--reset-seconds: expected a positive number of seconds, found nan"),
        (None, 5.0, "--reset-seconds: goes with --reset-command"),
    ],
)
def test_a_bad_command_is_one_line(line: str | None, seconds: float | None, rule: str) -> None:
    with pytest.raises(DocumentError) as caught:
        given_reset(line, seconds)
    assert str(caught.value) == rule
