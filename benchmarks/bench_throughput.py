"""Measures cases and sub-verdicts per second with process isolation on one core, -n 2, and ONNX's backend tests."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure

_RUN = [sys.executable, "-m", "npu_conformance", "run", "--plugin", "reference", "-q"]
_POSITIVE = ["vts.generated", "-k", "not refused"]
_ONNX = """
import time, unittest
import onnx.backend.test
from onnx.backend.base import Backend, BackendRep
from onnx.reference import ReferenceEvaluator

class Prepared(BackendRep):
    def __init__(self, model): self.session = ReferenceEvaluator(model)
    def run(self, inputs, **rest):
        return self.session.run(None, dict(zip(self.session.input_names, inputs)))

class Reference(Backend):
    @classmethod
    def is_compatible(cls, model, device="CPU", **rest): return True
    @classmethod
    def prepare(cls, model, device="CPU", **rest): return Prepared(model)
    @classmethod
    def supports_device(cls, device): return device == "CPU"

tests = onnx.backend.test.BackendTest(Reference, "benchmark")
tests.include("_(add|relu|matmul|concat|softmax|transpose|mul|sub|div|pad|slice|reshape|maxpool|averagepool|conv)_")
suite = tests.test_suite
started = time.process_time()
result = unittest.TextTestRunner(stream=open("/dev/null", "w")).run(suite)
print((result.testsRun - len(result.skipped)) / (time.process_time() - started))
"""


def figures(onnx_python: str | None) -> Iterator[Figure]:
    """onnx_python: an interpreter that has onnx, where this one has not."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[:1])
    try:
        runs = [_measured() for _ in range(3)]
        theirs = _onnx(onnx_python)
    finally:
        os.sched_setaffinity(0, cores)
    cases, verdicts = max(run[0] for run in runs), max(run[1] for run in runs)
    compared = f"ONNX's backend tests on its reference: {theirs:.0f}/s" if theirs else "ONNX is not installed"
    yield Figure("cases on one core", cases, "/s", compared, 400, at_least=True)
    yield Figure("sub-verdicts on one core", verdicts, "/s", "", 2000, at_least=True)
    if len(cores) > 1:
        one, two = min(_wall("1") for _ in range(2)), min(_wall("2") for _ in range(2))
        yield Figure("-n 2 against -n 1", one / two, "x", f"{one:.1f} s, {two:.1f} s by the clock", 1.8, at_least=True)


def _measured() -> tuple[float, float]:
    """The cases and sub-verdicts per second of processor time between the first case and the last, both processes."""
    with tempfile.TemporaryDirectory() as folder:
        started = _processor_seconds()
        subprocess.run([*_RUN, *_POSITIVE, "--report", folder], check=True, stdout=subprocess.DEVNULL)
        whole = _processor_seconds() - started
        lines = [json.loads(line) for line in Path(folder, "events.jsonl").read_text().splitlines()]
        subprocess.run(
            [*_RUN, "vts.generated.ADD.float32_none_same", "--report", folder], check=True, stdout=subprocess.DEVNULL
        )
        seconds = whole - (_processor_seconds() - started - whole)
    results = [line["result"] for line in lines if line["event"] == "case-finished"]
    return len(results) / seconds, sum(len(result.get("configurations", ())) for result in results) / seconds


def _processor_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _wall(processes: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        command = [*_RUN, *_POSITIVE, "-n", processes, "--report", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return time.perf_counter() - started


def _onnx(python: str | None) -> float | None:
    if python is None and importlib.util.find_spec("onnx") is None:
        return None
    told = subprocess.run(
        [python or sys.executable, "-W", "ignore", "-c", _ONNX], capture_output=True, text=True, check=True
    )
    return float(told.stdout.split()[-1])
