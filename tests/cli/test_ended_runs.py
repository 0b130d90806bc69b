"""SIGTERM, SIGHUP, SIGINT and SIGKILL at any moment of a run, and --resume: every case has one verdict in the end."""

from __future__ import annotations

import json
import random
import signal
from collections import Counter
from pathlib import Path

import pytest
import warm_python
from patience import eventually
from wire_client import environment

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
    assert (run.wait(), errors) == (3, "interrupted\n"), out
