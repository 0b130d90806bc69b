"""examples/node-driver, written from the documents and the kit alone: its validator is right, and it passes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from patience import SECONDS
from places import ROOT

from npu_conformance.cli import kit
from npu_conformance.corpus import vectors
from npu_conformance.specs.versions import Version

FOLDER = ROOT / "examples" / "node-driver"
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("kit")
    kit.write(folder, Version.V1_2)
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NPU_CONFORMANCE_KIT": str(folder)}


def run(environment: dict[str, str], report: Path, *chosen: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "npu_conformance", "run", "vts", *chosen, "--report", str(report)]
    plugin = ["--plugin", f"exec:{NODE} {FOLDER / 'driver.js'}"]
    return subprocess.run([*command, *plugin], env=environment, capture_output=True, text=True, timeout=SECONDS)


def test_its_validator_agrees_with_every_sample_model(environment: dict[str, str]) -> None:
    script = FOLDER / "validator" / "check_models.js"
    result = subprocess.run([str(NODE), str(script)], env=environment, capture_output=True, text=True, timeout=SECONDS)
    assert result.returncode == 0, result.stdout
    assert result.stdout.endswith(" models, 0 wrong verdicts\n")


def test_its_validator_takes_no_models_of_another_version(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "operations", lambda: ("ADD",))
    kit.write(tmp_path, Version.V1_1)
    script = FOLDER / "validator" / "check_models.js"
    other = {**environment, "NPU_CONFORMANCE_KIT": str(tmp_path)}
    result = subprocess.run([str(NODE), str(script)], env=other, capture_output=True, text=True, timeout=SECONDS)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == (
        "the models of the kit are of 1.1, the validator's are of 1.2: npu-conformance kit DIR --hal 1.2\n"
    )


def test_it_passes_the_smoke_scope(environment: dict[str, str], tmp_path: Path) -> None:
    result = run(environment, tmp_path, "--scope", "smoke")
    assert result.returncode == 0, result.stdout


def test_it_passes_what_it_claims_and_refuses_what_is_wrong(environment: dict[str, str], tmp_path: Path) -> None:
    chosen = (
        "(generated.ADD or generated.RELU or structure.P3 or validation.CONV_2D "
        "or burst.malformed or messages.PreparedModel or memory.hardware_buffer) and not RELU1 and not RELU6"
    )
    result = run(environment, tmp_path, "-k", chosen)
    assert result.returncode == 0, result.stdout


def test_a_missing_kit_is_one_line(environment: dict[str, str], tmp_path: Path) -> None:
    missing = {**environment, "NPU_CONFORMANCE_KIT": str(tmp_path)}
    result = run(missing, tmp_path / "report", "-k", "queries")
    assert result.returncode == 2
    assert f"make the kit first: npu-conformance kit {tmp_path}" in result.stderr
