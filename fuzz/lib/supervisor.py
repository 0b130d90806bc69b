"""Runs a fuzzer in a process of its own, and says what became of it: nothing found, a finding, a crash, a hang."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from npu_conformance.fuzz.lib.current_input import CurrentInput
from npu_conformance.fuzz.lib.inputs import Finding, Lines, lines_of
from npu_conformance.fuzz.lib.job import EngineName, Job, Report, Start
from npu_conformance.harness.judge.outcome_table import OK, USAGE, WRONG
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs import documents

_START_SECONDS = 300.0
"""How long loading may take; instrumented imports are slow."""
_INSTRUMENTED = tuple(f"npu_conformance.{name}" for name in ("specs", "reference", "adapters", "harness.wire"))
"""What coverage is followed in, beside the plug-in: what is attacked, not the fuzzer itself."""
_POLL_SECONDS = 0.05
_SHOWN_LINES = 5
_LAUNCHER = """#!{python}
import sys
from contextlib import nullcontext as instrumented
{instrument}
with instrumented():
    from npu_conformance.fuzz.lib.fuzzer import main
    sys.exit(main(sys.argv[1]))
"""
_INSTRUMENT = """import atheris
def instrumented():
    return atheris.instrument_imports(include={packages!r}, enable_loader_override=False)
"""


@dataclass(frozen=True)
class Outcome:
    """What came of a run. runs: inputs that were begun. file: the finding's, None where nothing was found.

    start_seconds: until the first input was begun; seconds: since then.
    """

    runs: int
    seconds: float
    start_seconds: float
    finding: Finding | None = None
    file: Path | None = None


def default_engine() -> EngineName:
    """Atheris where it is installed."""
    return "atheris" if importlib.util.find_spec("atheris") is not None else "hypothesis"


def run(job: Job, artifacts: Path) -> Outcome:
    """Do a job (whose `work` is filled in here). Raises LoadError where the fuzzer cannot start."""
    if job.engine == "atheris" and importlib.util.find_spec("atheris") is None:
        raise LoadError("engine atheris: it is not installed; `pip install npu-conformance[fuzz]`, or take hypothesis")
    with tempfile.TemporaryDirectory(prefix="npu-conformance-fuzz-") as work:
        return _Run(replace(job, work=work), artifacts, Path(work)).outcome()


class _Run:
    def __init__(self, job: Job, artifacts: Path, work: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._job = job
        self._artifacts = artifacts
        self._work = work
        self._current_input = CurrentInput(work / "current_input")
        self._clock = clock
        self._started = self._first = clock()

    def outcome(self) -> Outcome:
        process, is_hanging = self._watched()
        self._seconds, self._start_seconds = self._clock() - self._first, self._first - self._started
        self._runs, data = self._current_input.read()
        self._current_input.close()
        if process.returncode == OK and self._is_done():
            return Outcome(self._runs, self._seconds, self._start_seconds)
        if process.returncode == USAGE or self._runs == 0:
            raise LoadError(self._last_words() or f"the fuzzer ended with status {process.returncode}")
        if process.returncode == WRONG and (self._work / "report.json").exists():
            report = documents.read(self._work / "report.json", Report)
            self._runs = report.run
            return self._found("fail", report.message, report.input)
        if is_hanging:
            return self._found("hang", f"no end within {self._deadline():g} s (killed)", lines_of(data))
        return self._found("crash", self._death(process.returncode), lines_of(data))

    def _is_done(self) -> bool:
        """True where the fuzzer came to its end: a subject can end the process with status 0 too."""
        if self._job.engine == "atheris":
            return b"\nDone " in (self._work / "output").read_bytes()
        return (self._work / "done").exists()

    def _death(self, returncode: int) -> str:
        how = signal.Signals(-returncode).name if returncode < 0 else f"status {returncode}"
        words = self._last_words()
        return f"the process ended with {how}" + (f"; last words: {words}" if words else "")

    def _found(self, verdict: Literal["fail", "crash", "hang"], message: str, found: Lines) -> Outcome:
        """Write the finding file (FUZ-008)."""
        job = self._job
        finding = Finding(
            format=1,
            target=job.target,
            verdict=verdict,
            message=message,
            plugin=job.plugin,
            hal_version=documents.read(self._work / "start.json", Start).hal_version,
            seed=job.seed,
            input=found,
        )
        digest = hashlib.sha256(found.data).hexdigest()[:12]
        path = self._artifacts / f"{job.target}-{verdict}-{digest}.json"
        self._artifacts.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(finding), indent=1) + b"\n")
        return Outcome(self._runs, self._seconds, self._start_seconds, finding, path)

    def _watched(self) -> tuple[subprocess.Popen[bytes], bool]:
        """Run the fuzzer to its end, or kill it where one input takes too long or the time is long over."""
        job_file, launcher = self._work / "job.json", self._work / "fuzzer"
        job_file.write_bytes(msgspec.json.encode(self._job))
        launcher.write_text(self._launcher())
        launcher.chmod(0o700)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
        with (self._work / "output").open("wb") as output:
            process = subprocess.Popen(
                [str(launcher), str(job_file)], env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        try:
            return process, self._wait(process)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()

    def _wait(self, process: subprocess.Popen[bytes]) -> bool:
        """True where the process has to be killed, since an input does not come to its end."""
        count, since = 0, self._clock()
        while True:
            try:
                process.wait(_POLL_SECONDS)
                return False
            except subprocess.TimeoutExpired:
                now, latest = self._clock(), self._current_input.read()[0]
            if count == 0:
                self._first = now
            if latest != count:
                count, since = latest, now
            elif now - since > (self._deadline() if count else _START_SECONDS):
                return True

    def _deadline(self) -> float:
        return documents.read(self._work / "start.json", Start).seconds

    def _launcher(self) -> str:
        plugin = self._job.plugin.partition(":")[0].partition(".")[0] if ":" in self._job.plugin else ""
        packages = [*_INSTRUMENTED, *([plugin] if plugin not in ("", "npu_conformance") else [])]
        instrument = _INSTRUMENT.format(packages=packages) if self._job.engine == "atheris" else ""
        return _LAUNCHER.format(python=sys.executable, instrument=instrument)

    def _last_words(self) -> str:
        lines = (self._work / "output").read_text(errors="replace").splitlines()
        lines_shown = [line.strip() for line in lines if line.strip() and not line.startswith(("INFO:", "#", "\t"))]
        return (
            " | ".join(lines_shown[-_SHOWN_LINES:]) if self._job.engine == "hypothesis" else " | ".join(lines_shown[:1])
        )
