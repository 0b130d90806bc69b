"""Measures the few ratios that `--check` watches: each cost against a yardstick of the same run, on any machine."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench_cold import CASE, SUITE
from benchmarks.bench_wire import PLUGINS, bare_round_trip, device_of, microseconds, model_of_30_operands
from benchmarks.figures import Figure, cost
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.remote import RemoteSubject

_COMMAND = [sys.executable, "-m", "npu_conformance"]
_PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist"]
_SOME = ["vts.generated.ADD", "vts.generated.CONV_2D", "vts.generated.PAD"]
_REPEATS = 5


def figures() -> Iterator[Figure]:
    """Processor time against that of `import numpy` or of an empty pytest run; calls against a bare round trip."""
    with tempfile.TemporaryDirectory() as folder:
        yield from _commands(folder)
    yield from _calls()


def _commands(folder: str) -> Iterator[Figure]:
    numpy = _seconds([sys.executable, "-c", "import numpy"])
    run = [*_COMMAND, "run", "--plugin", "reference", "-q", "--report", f"{folder}/report"]
    one = _seconds([*run, CASE])
    yield _against("one named case", one, numpy, "import numpy")
    yield _against("the same by -k", _seconds([*run, "-k", CASE]), numpy, "import numpy")
    yield _against("listing all ids", _seconds([*_COMMAND, "list"]), numpy, "import numpy")
    empty = Path(folder, "test_empty.py")
    empty.write_text("def test_nothing():\n    pass\n")
    bare = _seconds([*_PYTEST, "--rootdir", folder, str(empty)])
    ours = [*_PYTEST, "--rootdir", str(SUITE), "--npu-plugin=reference", "--npu-report", f"{folder}/report"]
    pytest = _seconds([*ours, f"{SUITE}/vts/generated.py", "-k", CASE.removeprefix("vts.generated.")])
    yield _against("one case by pytest", pytest, bare, "an empty pytest run")
    yield _against("three operations' cases", _seconds([*run, *_SOME], 2) - one, numpy, "import numpy")


def _calls() -> Iterator[Figure]:
    sys.path.insert(0, str(PLUGINS))
    bare = bare_round_trip(5000)
    subject = open_subject("echo_plugin:plugin")
    assert isinstance(subject, RemoteSubject)
    try:
        model, device = model_of_30_operands(), device_of(subject)
        ping = microseconds(subject.ping, 5000)
        support = microseconds(lambda: device.get_supported_operations(model), 2000)
    finally:
        subject.close()
    yield Figure("ping", ping / bare, "x", f"{ping:.0f} us; a bare round trip: {bare:.0f} us")
    yield Figure("a model of 30 operands", support / bare, "x", f"{support:.0f} us; a bare round trip: {bare:.0f} us")


def _seconds(command: list[str], repeats: int = _REPEATS) -> float:
    return cost(command, repeats).processor


def _against(name: str, seconds: float, yardstick: float, what: str) -> Figure:
    return Figure(name, seconds / yardstick, "x", f"{seconds:.2f} s of processors; {what}: {yardstick:.2f} s")
