"""examples/python_driver.py of docs/adapters.md: a driver from scratch passes what it has, in each kind of version."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import warm_python
from places import ROOT

EXAMPLE = ROOT / "examples" / "python_driver.py"
CHOSEN = "generated.ADD.float32 or generated.ADD.broadcast_mismatch or generated.ADD.output_declared or queries"


@pytest.mark.parametrize("version", ["1.2", "fl5"])
def test_the_example_passes_what_it_has(tmp_path: Path, version: str) -> None:
    command = ("-m", "npu_conformance", "run", "vts", "-k", CHOSEN, "--plugin", "python_driver:plugin")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(EXAMPLE.parent), str(ROOT / "src")])}
    result = warm_python.run(*command, "--hal", version, "--report", str(tmp_path), env=environment)
    assert result.returncode == 0, result.stdout
    summary = json.loads((tmp_path / "results.json").read_text())
    passed = {case["case"] for case in summary["cases"] if case["outcome"] == "pass"}
    assert summary["hal_version"] == version
    assert {"vts.queries.liveness.ping", "vts.generated.ADD.broadcast_mismatch_last_dimension"} <= passed
    assert len(passed) > 30
