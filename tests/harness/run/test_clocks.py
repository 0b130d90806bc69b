"""Clocks that jump: the wall clock says when a run was, and nothing waits by it."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from patience import SECONDS
from places import HOSTILE, ROOT

_TELLS = {
    "harness/judge/waivers.py": "the day, by which waivers expire",
    "harness/pytest_plugin/reporting.py": "when a case began and ended, for pytest's own report",
    "harness/run/engine.py": "when the run began, in its header",
    "harness/run/folders.py": "the name of a report folder",
    "harness/wire/wire_log.py": "when a message was sent, for who reads logs of several machines",
}
"""The files that look at the wall clock, and what for."""
_ROOMS = ("specs", "corpus", "reference", "harness", "adapters", "vts", "cts", "fuzz", "mlts", "simulation", "cli")
_WALL = {("time", "time"), ("time", "time_ns"), ("datetime", "now"), ("datetime", "utcnow"), ("date", "today")}
JUMPING = """
import datetime, itertools, time

_jumps = itertools.cycle((0.0, 4e8, -4e8))
_time, _now = time.time, datetime.datetime.now


class _Datetime(datetime.datetime):
    @classmethod
    def now(cls, zone=None):
        return _now(zone) + datetime.timedelta(seconds=next(_jumps))


time.time = lambda: _time() + next(_jumps)
time.time_ns = lambda: int(time.time() * 1e9)
datetime.datetime = _Datetime
"""
"""Sets the wall clock twelve years forward or back at each look at it."""


def looks_at_the_wall_clock(source: str) -> bool:
    """True where a module calls, or hands on, a clock that can be set."""
    if not any(f".{name}" in source for _, name in _WALL):
        return False
    names = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute))
    return any((getattr(node.value, "attr", getattr(node.value, "id", "")), node.attr) in _WALL for node in names)


def test_who_looks_at_the_wall_clock_is_known() -> None:
    files = [path for room in _ROOMS for path in (ROOT / room).rglob("*.py")]
    found = {str(path.relative_to(ROOT)) for path in files if looks_at_the_wall_clock(path.read_text())}
    assert found == set(_TELLS)
    assert looks_at_the_wall_clock("import time as clock\nimport time\nends = time.time() + 5")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of processes whose wall clock jumps."""
    folder = tmp_path / "clock"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(JUMPING)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(HOSTILE), *filter(None, sys.path)])}


def test_a_clock_that_jumps_changes_no_verdict(tmp_path: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "npu_conformance", "run", "--budget", "2h", "-q"]
    command += ["--plugin", "dying_plugins:hanging"]

    def run(*more: str) -> int:
        ended = subprocess.run(
            [*command, *more], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=SECONDS
        )
        assert "Traceback" not in ended.stdout + ended.stderr
        return ended.returncode

    assert run("vts.queries", "-n", "2") == 1
    (found,) = (tmp_path / ".npu-conformance" / "dying").glob("*Z-*/results.json")
    outcomes = {case["case"]: case["outcome"] for case in json.loads(found.read_text())["cases"]}
    assert outcomes["vts.queries.type.legal"] == "hang"
    assert outcomes["vts.queries.version_string.not_empty"] == "pass"
    assert not {"suite-error", "not-run", "crash"} & set(outcomes.values())
    assert run("vts.queries.type.legal", "--keep", "2") == 1
    assert len(list((tmp_path / ".npu-conformance" / "dying").glob("*Z-*/results.json"))) == 2
