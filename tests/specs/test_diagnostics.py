"""Logs by tag and traces: who writes what, nobody unasked, and files that several processes write are whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from npu_conformance.cli.main import main
from npu_conformance.harness.judge.outcome_table import OK, USAGE
from npu_conformance.specs.diagnostics import trace, vlog

CASE = "vts.generated.ADD.float32_none_same"


@pytest.fixture
def tags(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """NPU_VLOG is read anew, in the test and after it."""
    vlog.enabled_tags.cache_clear()
    yield monkeypatch
    vlog.enabled_tags.cache_clear()


def run(tmp_path: Path, *options: str) -> int:
    return main(["run", CASE, "--plugin", "reference", "-q", "--report", str(tmp_path / "report"), *options])


def test_text_is_made_for_enabled_tags_only(tags: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    tags.setenv(vlog.VARIABLE, "driver,model")
    vlog.log("driver", lambda: "one\ntwo")
    vlog.log("manager", lambda: pytest.fail("nobody asked"))
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition("] ")[2] for line in lines] == ["one", "two"]
    assert lines[0].startswith("[driver ")
    assert vlog.enabled_tags() == {"driver", "model"}


@pytest.mark.parametrize("value", ["all", "1", "driver 1"])
def test_one_and_all_are_every_tag(tags: pytest.MonkeyPatch, value: str) -> None:
    tags.setenv(vlog.VARIABLE, value)
    assert vlog.enabled_tags() == set(vlog.TAGS)


def test_unknown_tags_are_refused(tags: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tags.setenv(vlog.VARIABLE, "driver noise")
    assert run(tmp_path) == USAGE
    assert "NPU_VLOG: no tag 'noise'; there are compilation cpuexe" in capsys.readouterr().err


def test_a_log_that_nobody_fills_is_refused(tags: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tags.delenv(vlog.VARIABLE, raising=False)
    assert run(tmp_path, "--log", str(tmp_path / "log.txt")) == USAGE
    assert not (tmp_path / "log.txt").exists()


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
def test_each_tag_of_the_driver_has_lines(tags: pytest.MonkeyPatch, tmp_path: Path, isolation: str) -> None:
    tags.setenv(vlog.VARIABLE, "all")
    log = tmp_path / "log.txt"
    assert run(tmp_path, "--log", str(log), "--isolation", isolation) == OK
    text = log.read_text()
    for tag in ("compilation", "cpuexe", "driver", "execution", "model"):
        assert f"[{tag} " in text
    assert "0: ADD of [[2, 3], [2, 3], []] gives [[2, 3]]" in text
    assert "%3 = ADD(%0, %1, %2)" in text


def test_the_manager_says_what_it_decides(tags: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tags.setenv(vlog.VARIABLE, "manager")
    log = tmp_path / "log.txt"
    options = ["--plugin", "reference", "-q", "--report", str(tmp_path / "report"), "--log", str(log)]
    assert main(["run", "cts", "-k", "cancel", *options]) == OK
    assert ": grant, " in log.read_text()
    assert ": cancel, " in log.read_text()


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
def test_a_trace_is_whole_and_its_spans_lie_in_each_other(tmp_path: Path, isolation: str) -> None:
    file = tmp_path / "trace.json"
    assert run(tmp_path, "--trace", str(file), "--isolation", isolation) == OK
    events = [event for event in json.loads(file.read_text()) if event["ph"] == "X"]
    cases = [event for event in events if event["cat"] == "case"]
    computed = [event for event in events if event["cat"] == "device"]
    assert CASE in {case["name"] for case in cases}
    assert {event["name"] for event in computed} == {"ADD"}
    assert {"validate model", "prepare", "run"} <= {event["name"] for event in events if event["cat"] == "driver"}
    for event in computed:
        assert any(_holds(case, event) for case in cases)
    assert len({event["pid"] for event in events}) == (2 if isolation == "process" else 1)
    assert trace.path() is None


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
def test_a_trace_by_the_variable_is_begun_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: str
) -> None:
    file = tmp_path / "trace.json"
    monkeypatch.setenv(trace.VARIABLE, str(file))
    trace.path.cache_clear()
    for _ in range(2):
        assert run(tmp_path, "--isolation", isolation) == OK
    monkeypatch.undo()
    trace.path.cache_clear()
    first, *events = file.read_text().splitlines()
    assert first == "["
    names = [json.loads(event.rstrip(","))["name"] for event in events]
    assert names.count(CASE) == 2


def _holds(outer: dict[str, Any], inner: dict[str, Any]) -> bool:
    return bool(outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"])


def test_a_file_that_can_not_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "--trace", str(tmp_path / "none" / "trace.json")) == USAGE
    assert "No such file or directory" in capsys.readouterr().err


def test_a_variable_that_names_no_file_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(trace.VARIABLE, str(tmp_path / "none" / "trace.json"))
    trace.path.cache_clear()
    assert run(tmp_path) == USAGE
    monkeypatch.undo()
    trace.path.cache_clear()
    assert "No such file or directory" in capsys.readouterr().err
