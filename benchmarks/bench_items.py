"""Measures what an empty item costs: a case of the suite against an ordinary test, in the same kind of pytest run."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure

ITEMS = 2000
_TIMED = """
import json, time
import pytest

@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session):
    started = time.perf_counter()
    result = yield
    seconds = time.perf_counter() - started
    with open(session.config.rootpath / "seconds.json", "w") as file:
        json.dump(seconds, file)
    return result
"""
_OURS = """
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.pytest_plugin.adapter import CaseItem

class Empty(pytest.File):
    def collect(self):
        for number in range(ITEMS):
            case = Case(f"vts.empty.NONE.case_{number}", lambda context: None, ("NNHAL-ERROR-008",))
            yield CaseItem.from_parent(self, name=case.id, case=case)

def pytest_collect_file(file_path, parent):
    return Empty.from_parent(parent, path=file_path) if file_path.suffix == ".empty" else None
"""
_ORDINARY = """
import pytest

@pytest.mark.parametrize("number", range(ITEMS))
def test_nothing(number):
    pass
"""


def figures() -> Iterator[Figure]:
    """The milliseconds of one item."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "conftest.py").write_text(_TIMED + _OURS.replace("ITEMS", str(ITEMS)))
        Path(folder, "test_ordinary.py").write_text(_ORDINARY.replace("ITEMS", str(ITEMS)))
        Path(folder, "cases.empty").touch()
        plugin = ["--npu-plugin=reference", "--npu-isolation=inprocess", f"--npu-report={folder}/report"]
        ours = min(_milliseconds(folder, "cases.empty", *plugin) for _ in range(3))
        ordinary = min(_milliseconds(folder, "test_ordinary.py") for _ in range(3))
    yield Figure(
        "an empty item", ours, "ms", f"an ordinary one: {ordinary:.3f} ms, {ordinary / ours:.1f} times ours", 0.2
    )


def _milliseconds(folder: str, name: str, *options: str) -> float:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    command += ["--rootdir", folder, *options, f"{folder}/{name}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)
    seconds: float = json.loads(Path(folder, "seconds.json").read_text())
    return seconds * 1000 / ITEMS
