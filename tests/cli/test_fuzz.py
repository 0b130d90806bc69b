"""The command: its own process for each fuzzer, findings as files that replay, deaths attributed to their input."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path

import msgspec
import pytest
from places import HOSTILE

from npu_conformance.cli.main import main
from npu_conformance.fuzz.lib import supervisor
from npu_conformance.fuzz.lib.current_input import CurrentInput
from npu_conformance.fuzz.lib.inputs import Finding
from npu_conformance.fuzz.lib.job import Job
from npu_conformance.specs import documents
from npu_conformance.specs.neuralnetworks.types import Model

DRIVERS = "fuzzed_drivers:plugin"


@pytest.fixture(autouse=True)
def _drivers_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HOSTILE))


def fuzz(tmp_path: Path, *arguments: str, bug: str = "none", engine: str = "hypothesis") -> int:
    """Run the command on models with a bug."""
    plugin = ["--plugin", DRIVERS, "--plugin-option", f"bug={bug}"]
    return main(["fuzz", "models", *plugin, "--engine", engine, "--artifacts", str(tmp_path / "found"), *arguments])


def finding(tmp_path: Path) -> tuple[Path, Finding]:
    """The only finding file."""
    (path,) = (tmp_path / "found").iterdir()
    return path, documents.read(path, Finding)


def test_nothing_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz(tmp_path, "--runs", "100", "--seed", "7") == 0
    out = capsys.readouterr().out
    assert f"fuzz models of {DRIVERS}, engine hypothesis, seed 7" in out
    assert re.search(
        r"nothing found in 100 runs, [\d.]+ s \(\d+ a second\) after a start of [\d.]+ s$", out, re.MULTILINE
    )
    assert not (tmp_path / "found").exists()


def test_time_counts_from_the_first_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    job = Job("models", DRIVERS, {}, None, "hypothesis", None, 20.0, 0, None, str(tmp_path))
    run = supervisor._Run(job, tmp_path, tmp_path, clock=lambda: now[0])

    class Fuzzer:
        """Starts for 30 seconds, tries inputs for 20, and ends."""

        returncode = 0

        def wait(self, seconds: float) -> None:
            now[0] += 10.0
            if now[0] == 150.0:
                (tmp_path / "done").touch()
                return
            if now[0] >= 130.0:
                CurrentInput(tmp_path / "current_input").begin(b"")
            raise subprocess.TimeoutExpired("fuzzer", seconds)

    fuzzer = Fuzzer()
    monkeypatch.setattr(run, "_watched", lambda: (fuzzer, run._wait(fuzzer)))  # type: ignore[arg-type]
    monkeypatch.setattr(run, "_deadline", lambda: 60.0)
    outcome = run.outcome()
    assert (outcome.start_seconds, outcome.seconds) == (30.0, 20.0)


def test_a_finding_is_one_line_and_a_file_that_replays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz(tmp_path, "--runs", "4000", bug="accepts") == 1
    first, second, third = capsys.readouterr().out.splitlines()
    path, found = finding(tmp_path)
    assert first.endswith("seed 0")
    assert re.match(
        r"FAIL in run \d+: getSupportedOperations of a model that breaks MODEL\.O5: .*\(at main\.oper", second
    )
    assert third == f"input: {path}"
    assert (found.verdict, found.hal_version) == ("fail", "fl8")
    assert msgspec.json.decode(found.input.data, type=Model).main.operands[0].zero_point > 255
    assert fuzz(tmp_path, "--replay", str(path), bug="accepts") == 1
    assert second.split(": ", 1)[1] in capsys.readouterr().out
    assert fuzz(tmp_path, "--replay", str(path)) == 0


@pytest.mark.parametrize(
    ("bug", "verdict", "text"),
    [
        ("kill", "crash", "the process ended with SIGKILL"),
        ("exit", "crash", "the process ended with status 0"),
        ("hang", "hang", "no end within 0.9 s"),
    ],
)
def test_a_death_is_attributed_to_its_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bug: str, verdict: str, text: str
) -> None:
    assert fuzz(tmp_path, "--runs", "4000", bug=bug) == 1
    _, found = finding(tmp_path)
    assert found.verdict == verdict
    assert text in found.message
    assert found.message in capsys.readouterr().out
    assert 6 in [operand.zero_point for operand in msgspec.json.decode(found.input.data, type=Model).main.operands]


def test_the_time_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz(tmp_path, "--seconds", "0.3") == 0
    assert "nothing found" in capsys.readouterr().out


def test_a_corpus_is_started_from(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "garbage").write_bytes(b"\xff\x00")
    assert fuzz(tmp_path, "--runs", "50", "--corpus", str(tmp_path / "corpus")) == 0


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris is not installed")
class TestAtheris:
    def test_nothing_found(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert fuzz(tmp_path, "--runs", "300", engine="atheris") == 0
        # It tries each seed once, whatever it is asked for.
        found = re.search(r"nothing found in (\d+) runs", capsys.readouterr().out)
        assert found
        assert int(found[1]) >= 300

    @pytest.mark.parametrize(("bug", "verdict"), [("zero_point", "fail"), ("kill", "crash"), ("exit", "crash")])
    def test_findings(self, tmp_path: Path, bug: str, verdict: str) -> None:
        (tmp_path / "corpus").mkdir()
        assert fuzz(tmp_path, "--runs", "20000", "--corpus", str(tmp_path / "corpus"), bug=bug, engine="atheris") == 1
        _, found = finding(tmp_path)
        assert found.verdict == verdict
        assert "INFO" not in found.message

    def test_lines(self, tmp_path: Path) -> None:
        arguments = ["--runs", "300", "--engine", "atheris", "--artifacts", str(tmp_path)]
        assert main(["fuzz", "wire", "--plugin", DRIVERS, *arguments]) == 0


def test_atheris_that_is_missing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert fuzz(tmp_path, engine="atheris") == 2
    assert "engine atheris: it is not installed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--plugin", "nonsense"], "unknown plug-in 'nonsense'"),
        (["--plugin", "unix:/nowhere"], "cannot run with isolation inprocess"),
        (["--plugin", DRIVERS, "--runs", "0"], "--runs: expected a positive number, found 0"),
        (["--plugin", DRIVERS, "--seconds", "-1"], "--seconds: expected a positive number"),
        (["--plugin", DRIVERS, "--seed", "-1"], "--seed"),
        (["--plugin", DRIVERS, "--corpus", "/nowhere"], "no such folder"),
        (["--plugin", DRIVERS, "--hal", "9.9"], "--hal"),
        (["--plugin", DRIVERS, "--plugin-option", "x"], "expected NAME=VALUE"),
        (["--plugin", DRIVERS, "--replay", "/nowhere"], "No such file"),
    ],
)
def test_bad_command_lines_are_one_line(
    arguments: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["fuzz", "models", *arguments, "--artifacts", str(tmp_path)]
    assert main([*given, "--engine", "hypothesis"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("npu-conformance: ")
    assert text in line


def test_a_finding_of_the_other_target_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz(tmp_path, "--runs", "4000", bug="zero_point") == 1
    path, _ = finding(tmp_path)
    capsys.readouterr()
    assert main(["fuzz", "wire", "--plugin", DRIVERS, "--replay", str(path)]) == 2
    assert "it is a finding of models, not of wire" in capsys.readouterr().err
