"""Fuzzers as ClusterFuzzLite runs them: by the scripts that build.sh writes, with libFuzzer's own options."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from patience import SECONDS
from places import HOSTILE, ROOT

from npu_conformance.fuzz.lib.inputs import digest
from npu_conformance.fuzz.lib.libfuzzer import write_seeds
from npu_conformance.fuzz.lib.model_mutator import seeds
from npu_conformance.specs.versions import NEWEST

BUILD = ROOT / ".clusterfuzzlite" / "build.sh"
needs_atheris = pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="Atheris is not installed")

LIBFUZZER_FOUND = 77
"""The exit code of a process that a finding ended."""
DRIVER = """
from dataclasses import replace
from fuzzed_drivers import plugin as drivers
plugin = replace(drivers, create=lambda context: drivers.create(replace(context, options={"bug": "zero_point"})))
"""


def script(folder: Path, name: str) -> Path:
    """What build.sh writes for a fuzzer."""
    text = BUILD.read_text().partition("<<PYTHON\n")[2].partition("PYTHON\n")[0]
    path = folder / f"{name}_fuzzer.py"
    path.write_text(text.replace("$name", name))
    return path


def run(folder: Path, name: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(script(folder, name)), "-seed=1", "-max_len=16384", *words]
    paths = os.pathsep.join(map(str, (ROOT / "src", HOSTILE, folder)))
    return subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, cwd=folder, check=False,
        env={**os.environ, "PYTHONPATH": paths, **environment},
    )  # fmt: skip


def test_seeds_are_files_named_by_their_digests(tmp_path: Path) -> None:
    write_seeds("models", tmp_path / "seeds")
    found = {path.name: path.read_bytes() for path in (tmp_path / "seeds").iterdir()}
    assert set(found.values()) <= set(seeds(NEWEST))
    assert len(found) > 20
    assert all(digest(data) == name for name, data in found.items())


@needs_atheris
def test_a_finding_ends_the_process_and_other_inputs_do_not(tmp_path: Path) -> None:
    (tmp_path / "vendor.py").write_text(DRIVER)
    good = next(data for data in seeds(NEWEST, one_each=True) if b'"zeroPoint":0' in data)
    (tmp_path / "good").write_bytes(good)
    (tmp_path / "bad").write_bytes(good.replace(b'"zeroPoint":0', b'"zeroPoint":6', 1))
    ended = run(tmp_path, "models", "good", "bad", NPU_PLUGIN="vendor:plugin")
    assert ended.returncode == LIBFUZZER_FOUND
    assert "Executed good in" in ended.stderr
    assert "Executed bad in" not in ended.stderr
    assert "ValueError: six" in ended.stdout
