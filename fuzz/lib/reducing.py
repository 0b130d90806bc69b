"""Makes the input of a crash or a hang smaller: each try in a fork of a process that has loaded everything."""

from __future__ import annotations

import math
import mmap
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from npu_conformance.fuzz.lib.attack import FOUND
from npu_conformance.fuzz.lib.campaign.deaths import DEATH
from npu_conformance.fuzz.lib.campaign.documents import RoundJob, Sighting
from npu_conformance.fuzz.lib.ending import Ending
from npu_conformance.fuzz.lib.findings import TIMES_GREEN
from npu_conformance.fuzz.lib.target import Target, fuzzer_named, minimised
from npu_conformance.fuzz.lib.worker import attacked_by, is_here, patience
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.subject.process_group import child_has_ended
from npu_conformance.specs import documents
from npu_conformance.specs.forked import ends_with

_ATTEMPTS = 400
"""How often smaller inputs are tried."""
_LONGEST_TRY, _LONGEST_OF_ALL = 1.0, 20.0
"""Seconds, of hangs: inputs mostly take milliseconds. What is left in the end hangs for as long as calls may take."""
_SHARE = 1 / 8
"""Of the time that is left at most this much goes into making one hang smaller."""
AFTER_A_HANG = 3.0
"""Seconds, times the time_scale, for one input once a hang is known, which may come again and again, and for the input
of that hang itself: what is new is tried once more for the whole time."""
_HANG = "hang"
NO_HANG = "no_hang"
"""A file of the round's folder, which says that the input came to its end."""


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
        return Ending.UNLOADED
    doubt = job.doubted.get(death.signature)
    manifest = attacked.subject.manifest
    seconds = patience(job, manifest)
    short = min(seconds, AFTER_A_HANG * manifest.time_scale) if death.kind == _HANG else seconds
    if doubt is not None and _kills(fuzzer_named(doubt.fuzzer).target(attacked), doubt.data, short):
        return Ending.OVER
    tries = math.inf if death.kind != _HANG else min(_LONGEST_OF_ALL, (job.ends or math.inf) * _SHARE)
    smallest = _smallest(fuzzer.target(attacked), death, seconds, tries, is_sure=not knows_hangs(job))
    if smallest is None:
        (folder / NO_HANG).touch()
        return Ending.OVER
    found = replace(death, data=smallest, is_another=doubt is not None)
    (folder / FOUND).write_bytes(msgspec.json.encode(found) + b"\n")
    return Ending.OVER


def _kills(target: Target, data: bytes, seconds: float) -> bool:
    """Whether the input of a known finding still ends a process."""
    return any(end_of(lambda: target.run(data), seconds) for _ in range(TIMES_GREEN))


def knows_hangs(job: RoundJob) -> bool:
    """True where inputs are given a short time, since hangs are known that would cost a long one each."""
    return is_here(job) and any(name.startswith(f"{_HANG}: ") for name in job.known)


def _smallest(
    target: Target, death: Sighting, seconds: float, tries: float = math.inf, *, is_sure: bool = True
) -> bytes | None:
    """seconds: that an input may take. tries: seconds for all smaller inputs.

    is_sure: False for a hang that had a short time only; None where it is none.
    """
    is_hang = death.kind == _HANG
    patience = min(seconds, _LONGEST_TRY) if is_hang else seconds

    def fails(data: bytes) -> str:
        return end_of(lambda: target.run(data), patience)

    smallest = minimised(death.data, target.pieces, fails, _ATTEMPTS, tries)
    if is_hang and not (is_sure and smallest == death.data) and end_of(lambda: target.run(smallest), seconds) != _HANG:
        if not is_sure and (smallest == death.data or end_of(lambda: target.run(death.data), seconds) != _HANG):
            return None
        smallest = death.data  # a smaller one was only slow
    readable = target.readable(smallest)
    return readable if fails(readable) == fails(death.data) else smallest


def end_of(call: Callable[[], object], seconds: float) -> str:
    """How a fork ends that makes a call: the wait status of its death, `hang`, or empty where it comes through.

    Not by specs.forked: a subject that goes wrong may write into any descriptor, or close it, but not reach this page.
    """
    with mmap.mmap(-1, 1) as came_through:
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            _make(call, came_through, parent)
        if not child_has_ended(child, seconds):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return _HANG
        status = os.waitpid(child, 0)[1]
        return "" if came_through[0] else str(status)


def _make(call: Callable[[], object], came_through: mmap.mmap, parent: int) -> None:
    """Make the call in the fork, which ends here whatever comes: only its death is looked for."""
    try:
        if ends_with(parent):
            call()
    finally:
        # Its status would not tell: a subject can end a process with any.
        came_through[0] = 1
        os._exit(0)
