"""SIGTERM, SIGHUP, SIGINT and SIGKILL at any moment of a run, and --resume: every case has one verdict in the end."""

from __future__ import annotations

import json
import random
import signal
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import warm_python
from patience import eventually
from wire_client import environment

from npu_conformance.cli.commands import _shards

_CALLS = 6
"""Calls of the driver in the selected cases that can be the moment."""


class Run:
    """A run, or another command, that waits at a call of its driver."""

    def __init__(self, folder: Path, call: int, *more: str, command: str = "run vts.queries -q --plugin") -> None:
        self._folder = folder
        words = f"{command} paced_plugins:plugin --plugin-option call={call} --plugin-option folder={folder}"
        words += f" --report {folder}/kept" if command.startswith("run") else ""
        self.process = warm_python.start("-m", "npu_conformance", *words.split(), *more, env=environment())

    def signal(self, number: int) -> None:
        """Send a signal when the driver has reached the call, and let that go on."""
        eventually(lambda: (self._folder / "reached").exists() or self.process.poll() is not None)
        assert self.process.poll() is None, "it has never come to the call"
        self.process.send_signal(number)
        (self._folder / "go").touch()

    def end(self) -> tuple[int, str]:
        """Wait for the end, and for that of what it had in the shared memory; return exit code and output."""
        out, errors = self.process.communicate()
        eventually(lambda: not list(Path("/dev/shm").glob(f"npu-conformance-run-{self.process.pid}-*")))
        return self.process.wait(), out + errors


def verdicts(folder: Path) -> Counter[tuple[str, str]]:
    """Cases with their outcomes, as often as the events tell them: what was interrupted is told again."""
    events = [json.loads(line) for line in (folder / "kept" / "events.jsonl").read_bytes().splitlines()]
    found = [event["result"] for event in events if event["event"] == "case-finished"]
    return Counter((each["case"], each["outcome"]) for each in found if each["outcome"] != "not-run")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Counter[tuple[str, str]]:
    """The verdicts of a run that nothing disturbs."""
    folder = tmp_path_factory.mktemp("whole")
    assert Run(folder, 0).end()[0] == 0
    return verdicts(folder)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_whatever_ends_a_run_and_when_resume_makes_it_whole(
    tmp_path: Path, whole: Counter[tuple[str, str]], number: signal.Signals
) -> None:
    moment = random.Random(int(number)).randint(1, _CALLS)
    run = Run(tmp_path, moment)
    run.signal(number)
    code, out = run.end()
    assert "Traceback" not in out
    if number == signal.SIGKILL:
        assert code == -signal.SIGKILL
    else:
        assert code == 3, out
        assert json.loads((tmp_path / "kept" / "results.json").read_text())["exit_code"] == 3
        assert (tmp_path / "kept" / "junit.xml").exists()
    assert Run(tmp_path, moment, "--resume").end()[0] == 0
    assert verdicts(tmp_path) == whole


@pytest.mark.parametrize("claims", [False, True])
def test_a_check_that_is_interrupted_has_no_grade_and_no_claims(tmp_path: Path, claims: bool) -> None:
    file = tmp_path / "claims.json"
    file.write_text("kept")
    check = Run(tmp_path, 1, *(("--write-claims", str(file)) if claims else ()), command="check")
    check.signal(signal.SIGINT)
    code, out = check.end()
    assert (code, out.splitlines()[-1], "grade" in out) == (3, "interrupted", False)
    assert file.read_text() == "kept"


_SLOW = """
import os, time
from pathlib import Path
from vendor_plugins import first_day as plugin
here = Path(__file__).parent
try:
    (here / "whole").touch(exist_ok=False)
except FileExistsError:  # a part of the run
    (here / f"part-{os.getpid()}").touch()
    time.sleep(60)
"""


def test_parts_that_are_interrupted_while_they_start_were_interrupted_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "starting_slowly.py").write_text(_SLOW)
    words = ("run", "vts.queries", "-q", "-n", "2", "--plugin", "starting_slowly:plugin", "--report", "kept")
    run = warm_python.start("-m", "npu_conformance", *words, cwd=tmp_path, env=environment())
    eventually(lambda: len(list(tmp_path.glob("part-*"))) == 2)
    run.send_signal(signal.SIGINT)
    out, errors = run.communicate()
    told = "interrupted: the report is being written; Ctrl-C once more ends at once, without it (--resume continues)"
    assert (run.wait(), errors) == (3, f"{told}\ninterrupted\n"), out


_SIGNALLING = """
import signal, sys
from npu_conformance.harness.run import engine, events
from npu_conformance.specs.documents import results
number, moment, front_door = int(sys.argv.pop()), sys.argv.pop(), sys.argv.pop()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test in the background may have been told to ignore it
write, finish, seen = events.EventLog.write, engine.Engine.finish, []
def signalling(self, event):
    wanted = {"header": results.RunStarted, "finish": (), "footer": results.RunFinished}
    seen.append(isinstance(event, wanted.get(moment, results.CaseFinished)))
    is_now = seen[-1] and sum(seen) == (3 if moment.endswith("a verdict") else 1)
    if is_now and moment != "after a verdict":
        signal.raise_signal(number)
    write(self, event)
    if is_now and moment == "after a verdict":
        signal.raise_signal(number)
def finishing(self):
    signal.raise_signal(number)
    return finish(self)
events.EventLog.write = signalling
if moment == "finish":
    engine.Engine.finish = finishing
if front_door == "command":
    from npu_conformance.cli.main import main
    sys.exit(main(sys.argv[1:]))
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""
_TARGET = ("vts.queries", "--plugin", "reference", "--isolation", "inprocess", "-q")
_TARGET_OF_PYTEST = ("-q", "-p", "no:cacheprovider", "-W", "ignore", "--pyargs", "npu_conformance.vts.queries")


def _ended(folder: Path, words: tuple[str, ...], front_door: str, moment: str, number: int) -> tuple[int, str]:
    """The exit code of a run that gets a signal at a moment of recording, and what it printed."""
    run = warm_python.run("-c", _SIGNALLING, *words, front_door, moment, str(int(number)), cwd=folder)
    return run.returncode, run.stdout + run.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["header", "before a verdict", "after a verdict", "finish", "footer"])
def test_a_signal_while_something_is_recorded_costs_no_verdict(
    tmp_path: Path, moment: str, number: signal.Signals
) -> None:
    code, out = _ended(tmp_path, ("run", *_TARGET, "--report", "kept"), "command", moment, number)
    found = json.loads((tmp_path / "kept" / "results.json").read_text())
    assert (found["problems"], (tmp_path / "kept" / "junit.xml").exists()) == ([], True), out
    judged = {"header": 0, "before a verdict": 3, "after a verdict": 3}.get(moment, len(found["cases"]))
    assert len(found["cases"]) - len(found["not_run"]) == judged
    assert (found["complete"], code) == ((True, 0) if judged > 3 else (False, 3))


@pytest.mark.parametrize("moment", ["before a verdict", "after a verdict", "finish", "footer"])
def test_so_it_is_with_pytest(tmp_path: Path, moment: str) -> None:
    words = (*_TARGET_OF_PYTEST, "--npu-plugin=reference", "--npu-isolation=inprocess", "--npu-report=kept")
    _, out = _ended(tmp_path, words, "pytest", moment, signal.SIGINT)
    found = json.loads((tmp_path / "kept" / "results.json").read_text())
    assert (found["problems"], "Traceback" in out) == ([], False), out
    judged = 3 if moment.endswith("a verdict") else len(found["cases"])
    assert len(found["cases"]) - len(found["not_run"]) == judged


def test_parts_end_that_have_started_where_an_interrupt_comes_between_two(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def start(words: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
        if started:
            raise KeyboardInterrupt
        started.append(popen(["sleep", "60"], **options))
        return started[0]

    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", start)
    ended, *never_started = _shards.run_processes([["one"], ["two"], ["three"]], lambda: None)
    assert (ended, never_started) == (started[0].poll(), [3, 3])
