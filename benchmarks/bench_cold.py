"""Measures one named case from a cold start to its verdict, by command and by pytest, and the listing of all ids."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure, cost

SUITE = Path(__file__).parents[1]
CASE = "vts.generated.ADD.float32_none_same"
_COMMAND = [sys.executable, "-m", "npu_conformance"]
_WITHOUT = ["-p", "no:randomly", "-p", "no:xdist"]
"""Plug-ins of the extra `dev`, which a user of the suites does not have."""


def figures() -> Iterator[Figure]:
    """Seconds by the clock, with the processors' beside them."""
    python = cost([sys.executable, "-c", "import numpy"])
    with tempfile.TemporaryDirectory() as folder:
        report = f"{folder}/report"
        yield _figure("one case, command", [*_run(), "--report", report], 0.6, "import numpy", python.wall)
        empty = Path(folder, "test_empty.py")
        empty.write_text("def test_nothing():\n    pass\n")
        plain = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *_WITHOUT]
        bare = cost([*plain, "--rootdir", folder, str(empty)])
        ours = [*plain, "--rootdir", str(SUITE), "--npu-plugin=reference", "--npu-report", report]
        ours += [str(SUITE / "vts" / "generated.py"), "-k", CASE.removeprefix("vts.generated.")]
        yield _figure("one case, pytest", ours, 0.75, "an empty pytest run", bare.wall)
        yield Figure("  of it our own imports", _own_imports([*_run(), "--report", report]), "ms", "", 80)
    yield _figure("listing all ids", [*_COMMAND, "list"], 0.5, "import numpy", python.wall)


def _run() -> list[str]:
    return [*_COMMAND, "run", CASE, "--plugin", "reference", "-q"]


def _figure(name: str, command: list[str], aim: float, compared: str, against: float) -> Figure:
    measured = cost(command)
    text = f"{measured.processor:.2f} s of processors; {compared}: {against:.2f} s"
    return Figure(name, measured.wall, "s", text, aim)


def _own_imports(command: list[str]) -> float:
    """Milliseconds that modules of this project take to import by themselves, without what others they import take."""
    least = float("inf")
    for _ in range(5):
        timed = [command[0], "-X", "importtime", *command[1:]]
        told = subprocess.run(timed, capture_output=True, text=True, check=True).stderr
        lines = [line.split("|") for line in told.splitlines() if line.startswith("import time:")]
        own = [int(line[0].partition(":")[2]) for line in lines if line[2].strip().startswith("npu_conformance")]
        least = min(least, sum(own) / 1000)
    return least
