"""`@FILE`: the ids of a file are selected as if they were words of the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from npu_conformance.cli.main import main

_LIST = """# known to be good
vts.queries.type.legal

  vts.queries.liveness.ping
"""
_LEGAL, _PING = "vts.queries.type.legal", "vts.queries.liveness.ping"


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "good cases.txt"
    path.write_text(_LIST)
    return path


def test_the_lines_of_a_file_are_words(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", f"@{cases}", "vts.queries.status"]) == 0
    assert set(capsys.readouterr().out.split()) == {_LEGAL, _PING, "vts.queries.status.available"}


def test_a_run_records_the_ids_and_not_the_file(cases: Path, tmp_path: Path) -> None:
    report = tmp_path / "report"
    assert main(["run", f"@{cases}", "--plugin", "reference", "-q", "--report", str(report)]) == 0
    results = json.loads((report / "results.json").read_text())
    assert results["selection"]["patterns"] == [_LEGAL, _PING]
    assert {case["case"] for case in results["cases"]} == {_LEGAL, _PING}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"# none yet\n\n", "names nothing; expected ids or globs, one in each line"),
        (b"\xff\xfe", "is not a text of ids, one in each line"),
        (None, "No such file or directory"),
    ],
)
@pytest.mark.parametrize("command", ["list", "faults"])
def test_a_file_without_ids_is_refused(
    command: str, content: bytes | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "list"
    if content is not None:
        path.write_bytes(content)
    assert main([command, f"@{path}"]) == 2
    assert capsys.readouterr().err == f"npu-conformance: {path}: {message}\n"


def test_a_line_that_means_no_case_is_refused(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases.write_text(f"{_LIST}vts.queries.type.legall\n")
    assert main(["list", f"@{cases}"]) == 2
    assert f"vts.queries.type.legall: matches no case; did you mean {_LEGAL}?" in capsys.readouterr().err


def test_faults_are_named_by_a_file_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "faults"
    path.write_text("# seen by chance\npad-raw-zero\n")
    assert main(["faults", "--list", f"@{path}"]) == 0
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == ["pad-raw-zero"]


def test_the_mark_at_the_beginning_of_a_file_is_no_part_of_an_id(
    cases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases.write_bytes(f"\ufeff{_PING}\r\n".encode())
    assert main(["list", f"@{cases}"]) == 0
    assert capsys.readouterr().out == f"{_PING}\n"
