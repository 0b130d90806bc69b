"""Makes the input of a crash or a hang smaller: each try in a fork of a process that has loaded everything."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from npu_conformance.fuzz.lib.attack import FOUND
from npu_conformance.fuzz.lib.campaign.deaths import DEATH
from npu_conformance.fuzz.lib.campaign.documents import RoundJob, Sighting
from npu_conformance.fuzz.lib.target import Target, fuzzer_named, minimised
from npu_conformance.fuzz.lib.worker import attacked_by
from npu_conformance.harness.judge.outcome_table import OK, USAGE
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs import documents

_ATTEMPTS, _ATTEMPTS_OF_HANGS = 400, 6
"""How often smaller inputs are tried; each hang lasts for as long as a call may take."""
_HANG = "hang"
_ALIVE = 77
"""The status of a fork that came through: a subject can end a process with 0, too."""
_POLL_SECONDS = 0.002


def main(job_file: str) -> int:
    """Leave the finding with the smallest input found; nothing where the input does not kill a fork."""
    folder = Path(job_file).parent
    job = documents.read(Path(job_file), RoundJob)
    death = documents.read(folder / DEATH, Sighting)
    fuzzer = fuzzer_named(job.fuzzer)
    try:
        attacked = attacked_by(job)
    except LoadError as error:
        print(error, file=sys.stderr)
        return USAGE
    target = fuzzer.target(attacked)
    deadlines = attacked.subject.manifest.deadlines
    patience = (deadlines.call + deadlines.prepare + deadlines.execute) * attacked.subject.manifest.time_scale
    smallest = _smallest(target, death, patience)
    (folder / FOUND).write_bytes(msgspec.json.encode(replace(death, data=smallest)) + b"\n")
    return OK


def _smallest(target: Target, death: Sighting, patience: float) -> bytes:
    attempts = _ATTEMPTS if death.kind != _HANG else _ATTEMPTS_OF_HANGS

    def fails(data: bytes) -> str:
        return end_of(lambda: target.run(data), patience)

    smallest = minimised(death.data, target.pieces, fails, attempts)
    readable = target.readable(smallest)
    return readable if fails(readable) == fails(death.data) else smallest


def end_of(call: Callable[[], object], patience: float) -> str:
    """How a fork ends that makes a call: the wait status of its death, `hang`, or empty where it lives."""
    child = os.fork()
    if child == 0:
        _make(call)
    ends = time.monotonic() + patience
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "" if os.WIFEXITED(status) and os.WEXITSTATUS(status) == _ALIVE else str(status)
        time.sleep(_POLL_SECONDS)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return _HANG


def _make(call: Callable[[], object]) -> None:
    """Make the call in the fork, which ends here whatever comes: only its death is looked for."""
    try:
        call()
    finally:
        os._exit(_ALIVE)
