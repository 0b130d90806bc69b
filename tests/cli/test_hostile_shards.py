"""`run -n 2` where the driver of one process harms the run: its own cases suffer at most, and --resume goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hostile_process import name_spaces
from patience import SECONDS
from wire_client import environment

_UNASKED = ("not-applicable", "not-supported")


def run(folder: Path, deed: str, *more: str) -> subprocess.CompletedProcess[str]:
    """Run the queries in two processes, one of which does the deed once."""
    around = name_spaces()
    if not around:
        pytest.skip("the kernel gives no name spaces here, and these drivers could hurt others on the machine")
    command = [*around, sys.executable, "-m", "npu_conformance", "run", "vts.queries", "-n", "2", "-q"]
    command += ["--plugin", "sharded_plugins:plugin", "--report", str(folder / "report")]
    command += ["--plugin-option", f"deed={deed}", "--plugin-option", f"mark={folder / 'mark'}", *more]
    return subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, check=False, timeout=SECONDS
    )


def outcomes(folder: Path) -> Counter[str]:
    """How many cases ended how."""
    found = json.loads((folder / "report" / "results.json").read_text())
    return Counter(case["outcome"] for case in found["cases"] if case["outcome"] not in _UNASKED)


def test_a_driver_that_kills_its_part_of_the_run_leaves_the_other_whole(tmp_path: Path) -> None:
    ended = run(tmp_path, "end_harness")
    assert ended.returncode == 3, ended.stderr
    assert "was killed by signal 9" in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr
    before = outcomes(tmp_path)
    assert set(before) == {"pass", "not-run"}
    resumed = run(tmp_path, "end_harness", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    after = outcomes(tmp_path)
    assert set(after) == {"pass"}
    assert after["pass"] > before["pass"]


@pytest.mark.parametrize(("deed", "code", "red"), [("end_zygote", 1, 1), ("remove_folders", 0, 0)])
def test_a_driver_that_harms_what_the_run_stands_on_costs_its_own_case(
    tmp_path: Path, deed: str, code: int, red: int
) -> None:
    ended = run(tmp_path, deed)
    assert ended.returncode == code, ended.stderr
    found = outcomes(tmp_path)
    assert (found["crash"], found["pass"]) == (red, found.total() - red)


def test_a_driver_that_spoils_what_is_recorded_costs_no_verdict(tmp_path: Path) -> None:
    ended = run(tmp_path, "spoil_events")
    assert "Traceback" not in ended.stdout + ended.stderr
    assert set(outcomes(tmp_path)) == {"pass"}
    assert ended.returncode == 3, ended.stdout
    assert "events.jsonl" in ended.stdout
