"""max_instances of a manifest: a single board is not tested by two processes at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from places import HOSTILE, ROOT
from wire_client import environment

from npu_conformance.cli.main import main

_PLUGIN = "faulty_plugins:single"
_REFUSED = f"plug-in {_PLUGIN} cannot be tested by 2 processes at once: max_instances of its manifest is 1"


@pytest.mark.parametrize("words", [("run", "vts.queries"), ("graphs", "--seeds", "0:4")])
def test_more_processes_than_instances_are_refused(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(HOSTILE))
    monkeypatch.chdir(tmp_path)
    assert main((*words, "--plugin", _PLUGIN, "-n", "2")) == 2
    assert capsys.readouterr().err == f"npu-conformance: {_REFUSED}\n"
    assert list(tmp_path.iterdir()) == []


def test_rounds_of_fuzzers_at_once_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(HOSTILE))
    corpus = str(tmp_path / "corpus")
    assert main(("fuzz", "models", "--plugin", _PLUGIN, "--runs", "1", "--jobs", "2", "--corpus", corpus)) == 2
    assert capsys.readouterr().err == f"npu-conformance: {_REFUSED}\n"


def test_one_process_is_enough(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(HOSTILE))
    report = str(tmp_path / "report")
    assert main(("run", "vts.queries.version_string.*", "--plugin", _PLUGIN, "-n", "1", "--report", report, "-q")) == 0
    assert capsys.readouterr().err == ""


def test_workers_of_pytest_are_counted(tmp_path: Path) -> None:
    words = ["-p", "no:cacheprovider", f"--npu-plugin={_PLUGIN}", str(ROOT / "vts" / "queries.py"), "-k", "ping"]
    found = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "-n", "2"],
        cwd=tmp_path,
        env={**environment(), "PYTHONPATH": str(HOSTILE)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert f"ERROR: {_REFUSED}" in found.stderr, (found.stdout, found.stderr)
    assert found.returncode == pytest.ExitCode.USAGE_ERROR
