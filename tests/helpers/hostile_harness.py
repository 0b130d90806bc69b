"""The harness against hostile kinds, in a process that stays warm: `python hostile_harness.py`.

A kind's name a line on stdin; on stdout what became of it, a line of JSON (Told). The harness is a process apart from
the test that judges it, so that its death, or its silence, is a failure of that test alone.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import msgspec
from rooms import driver, first_answers, neighbours, starting
from rooms.kind import FOREVER, SOON, Kind, Start

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outcome_table import USAGE
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run import results
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.engine import Engine
from npu_conformance.harness.run.preparation import (
    PreparationArguments,
    PreparationRecorder,
    model_of,
    prepare_from_cache,
)
from npu_conformance.harness.run.session import KeptEvents
from npu_conformance.harness.subject import supervisor
from npu_conformance.harness.subject.loading import Handling, LoadError, open_subject
from npu_conformance.harness.subject.remote import RemoteSubject
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus

HANDSHAKES = Path(driver.__file__).with_name("handshakes.py")
MARK = "HOSTILE_HARNESS"
"""Environment variable by which the processes of one harness are known."""
SHARED = "/dev/shm"
_CONTENT = bytes(range(256)) * 32


class Told(msgspec.Struct):
    """What became of a kind.

    outcomes: of an innocent case, the guilty one, another innocent one; `refused` alone where none ran. messages: their
    lines. left: what the kind left behind, in words.
    """

    outcomes: list[str]
    messages: list[str]
    exit_code: int
    left: list[str]


def all_kinds() -> dict[str, Kind | Start]:
    """The catalogue, by room and name."""
    return {**driver.KINDS, **starting.starts(), **first_answers.starts(), **neighbours.starts()}


def _case(name: str, body: Callable[[CaseContext], None]) -> Case:
    return Case(f"vts.hostile.kind.{name}", body, ("NNHAL-QUERY-013",))


def _call(context: CaseContext, token: str, seconds: float = FOREVER) -> None:
    """Let the driver act, and see what is left of what it was lent."""
    pool, file = context.pool(len(_CONTENT)), context.cache_file(_CONTENT)
    checks.that(pool.read(0, len(_CONTENT)) == bytes(len(_CONTENT)), "a new pool: expected zeros")
    pool.write(0, _CONTENT)
    handle = context.subject.files.open(file)
    model_cache = (driver.handle(handle),)
    arguments = PreparationArguments(token=token.encode().ljust(32, b"\0"), model_cache=model_cache)
    recorder = PreparationRecorder()
    with _patience(context.subject, seconds):
        preparation = prepare_from_cache(context.subject, context.device, arguments, recorder)
    checks.status(preparation.launch_status, {ErrorStatus.NONE}, "prepareModelFromCache")
    model_of(preparation)
    for what, found in (("a pool", pool.read(0, len(_CONTENT))), ("a cache file", file.read())):
        if found != _CONTENT:
            raise Failed(f"{what}: expected its bytes, found others")
    context.subject.files.close(handle)


def _innocent(context: CaseContext) -> None:
    checks.that(context.device.get_version_string() == "fine", "getVersionString")
    _call(context, driver.INNOCENT)


def _guilty(name: str, seconds: float) -> Callable[[CaseContext], None]:
    return lambda context: _call(context, str(list(driver.KINDS).index(name)), seconds)


@contextmanager
def _patience(subject: Any, seconds: float) -> Iterator[None]:
    """Wait so long for a driver, and again for ever behind it: all else gets the time that a busy machine needs."""
    main, manifest = subject._main, subject.manifest
    before = main.deadlines
    short = msgspec.structs.replace(before, prepare=seconds, call=seconds)
    main.deadlines, subject.manifest = short, msgspec.structs.replace(manifest, deadlines=short)
    try:
        yield
    finally:
        main.deadlines, subject.manifest = before, manifest


class Harness:
    """Subjects that are started once for each transport, and what belongs to them on the machine."""

    def __init__(self) -> None:
        self._subjects: dict[str, RemoteSubject] = {}
        self._temporary = Path(tempfile.gettempdir())

    def tell(self, name: str) -> Told:
        """Run a kind between two innocent cases."""
        kind = all_kinds()[name]
        run = self._in_a_call if isinstance(kind, Kind) else self._at_the_start
        return run(name, kind)  # type: ignore[arg-type]

    def close(self) -> None:
        """End what is warm."""
        for subject in self._subjects.values():
            subject.close()

    def _in_a_call(self, name: str, kind: Kind) -> Told:
        subject = self._subject(kind.transport)
        before = self._descriptors()
        supervisor._LIMIT_SECONDS = SOON if name == "calls.stop_parent" else FOREVER
        told = _run(subject, [_innocent, _guilty(name, kind.seconds), _innocent])
        subject.restart()
        told.left += self._left(before)
        return told

    def _at_the_start(self, name: str, start: Start) -> Told:
        before = self._descriptors()
        room = name.partition(".")[0]
        with self._neighbour(name) if room == "neighbours" else nullcontext() as still_there:
            told = self._come_up(name, start, _innocent if room == "neighbours" else _ask_and_share)
            told.left += self._left(before) + (still_there() if still_there else [])
        return told

    def _come_up(self, name: str, start: Start, body: Callable[[CaseContext], None]) -> Told:
        os.environ[starting.VARIABLE] = name
        supervisor._LIMIT_SECONDS = start.seconds
        try:
            subject = open_subject(_spec(name, start), handling=Handling(start_seconds=start.seconds))
        except LoadError as error:
            return Told(["refused"], [str(error)], USAGE, [])
        try:
            assert isinstance(subject, RemoteSubject)
            return _run(subject, [body] * 3)
        finally:
            subject.close()

    def _subject(self, transport: str) -> RemoteSubject:
        if transport not in self._subjects:
            made = open_subject("rooms.driver:plugin", transports=(transport,))
            assert isinstance(made, RemoteSubject)
            self._subjects[transport] = made
        return self._subjects[transport]

    @contextmanager
    def _neighbour(self, name: str) -> Iterator[Callable[[], list[str]]]:
        """What a neighbour has put there before; what it yields tells how that was changed."""
        _, act, stays = neighbours.ACTS[name.partition(".")[2]]
        precious = Path(neighbours.PRECIOUS)
        precious.mkdir()
        (precious / "file").write_text("precious")
        before = set(os.listdir(SHARED))
        act()
        made = set(os.listdir(SHARED)) - before

        def changed() -> list[str]:
            there = made & set(os.listdir(SHARED))
            said = (
                [] if there == (made if stays else set()) else [f"of the neighbour's {sorted(made)}: {sorted(there)}"]
            )
            return said + ([] if (precious / "file").read_text() == "precious" else ["what was precious is gone"])

        try:
            yield changed
        finally:
            neighbours.undo(made)
            (precious / "file").unlink()
            precious.rmdir()

    def _left(self, descriptors: int) -> list[str]:
        gc.collect()
        ours = {os.getpid(), os.getppid()}
        for subject in self._subjects.values():
            ours |= {subject._endpoint._supervisor._pid, subject.process()}  # type: ignore[attr-defined]
        folders = {os.path.basename(subject._endpoint.store.directory) for subject in self._subjects.values()}
        found = [f"process {pid}: {words}" for pid, words in _processes().items() if pid not in ours]
        found += [f"{SHARED}/{name}" for name in sorted(self._shared() - folders) if not _is_moved_and_empty(name)]
        found += [f"temporary file {path}" for path in self._temporary.iterdir() if path.name != "precious"]
        more = self._descriptors() - descriptors
        return found + ([f"{more} descriptors of the harness"] if more > 0 else [])

    def _shared(self) -> set[str]:
        """What lies in the shared memory, of this harness where it has that with others."""
        is_alone = os.environ[MARK].endswith("alone")
        neighbourly = "npu-conformance-run-4194999-"
        return {
            name
            for name in os.listdir(SHARED)
            if (is_alone or name.startswith(f"npu-conformance-run-{os.getpid()}-")) and neighbourly not in name
        }

    @staticmethod
    def _descriptors() -> int:
        """Descriptors of this process, but for those of pools, which are kept for the next one."""
        gc.collect()
        return sum(not _is_pool(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd"))


def _is_moved_and_empty(name: str) -> bool:
    """True for a private folder that a driver has moved, with nothing in it: its new name is nobody's to know."""
    try:
        os.rmdir(f"{SHARED}/{name}")
    except OSError:
        return False
    return name.endswith("-moved")


def _is_pool(path: str) -> bool:
    try:
        target = os.readlink(path)
    except FileNotFoundError:  # the listing's own
        return True
    return target.startswith("/memfd:") or "/npu-conformance-run-" in target


def _run(subject: RemoteSubject, bodies: list[Callable[[CaseContext], None]]) -> Told:
    memory = KeptEvents()
    cases = [_case(name, body) for name, body in zip(("before", "guilty", "after"), bodies, strict=True)]
    verdicts = Engine(cases, subject, memory).run().results
    outcome = results.build(memory.log())
    outcomes, messages = [each.outcome.value for each in verdicts], [each.message for each in verdicts]
    return Told(outcomes, messages, outcome.exit_code, [])


def _ask_and_share(context: CaseContext) -> None:
    """What a driver can do that only has come up."""
    checks.that(context.device.get_version_string() == "fine", "getVersionString")
    context.pool(4096)


@functools.cache
def _python() -> str:
    return f"{sys.executable} -IS {HANDSHAKES}"


def _spec(name: str, start: Start) -> str:
    room = name.partition(".")[0]
    if room == "neighbours":
        return "rooms.driver:plugin"
    if room in ("handshake", "manifest"):
        told = Path(tempfile.gettempdir()).parent / "told.json"
        told.write_bytes(msgspec.json.encode(start.told))
        return f"exec:{_python()} {told}"
    return "rooms.starting_now:plugin"


def _processes() -> dict[int, str]:
    """Processes with our mark: number to command line."""
    mark, found = f"{MARK}={os.environ[MARK]}".encode(), {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if mark in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                found[int(entry)] = Path(f"/proc/{entry}/cmdline").read_text().replace("\0", " ")
    return found


def main() -> None:
    """Serve until stdin ends."""
    answers = os.dup(1)
    os.dup2(2, 1)
    harness = Harness()
    gc.collect()
    gc.freeze()  # what is collected after each kind is to be the kind's
    for line in sys.stdin:
        os.write(answers, msgspec.json.encode(harness.tell(line.strip())) + b"\n")
    harness.close()


if __name__ == "__main__":
    main()
