"""Runs the inputs of a round: notes each before it is run, keeps what is new, writes findings as they come."""

from __future__ import annotations

import math
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from npu_conformance.fuzz.lib.campaign.documents import Kept, RoundJob, Sighting, Tally
from npu_conformance.fuzz.lib.current_input import CurrentInput
from npu_conformance.fuzz.lib.ending import Ending
from npu_conformance.fuzz.lib.findings import TIMES_GREEN, UNREPEATED, kind_of, signature, where_of
from npu_conformance.fuzz.lib.histories import HistoryTarget
from npu_conformance.fuzz.lib.inputs import digest
from npu_conformance.fuzz.lib.leaks import LeakWatch
from npu_conformance.fuzz.lib.native_coverage import NativeCoverage
from npu_conformance.fuzz.lib.target import LARGEST_INPUT, NOT_JUDGED, Target, failure, minimised
from npu_conformance.harness.judge.verdicts import CaseEnded, Crashed, Hung
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.documents import Document
from npu_conformance.specs.documents.storing import append_line, write_whole

KEPT, FOUND, TALLY, CURRENT = "kept.jsonl", "found.jsonl", "tally.json", "current_input"
"""Files of a round's folder."""
_TALLY_EVERY = 100
"""Inputs: Atheris ends the process without a word."""
_ATTEMPTS = 300
_ATTEMPTS_OF_MANY_RUNS = 60
"""How often a finding is tried to be made smaller; fewer where a try costs several runs."""
_LONGEST = 40.0
"""Seconds for that, of crashes and hangs: a try may cost a process, or as long as a call may take."""


class Attack:
    """The attack of one round."""

    def __init__(
        self,
        job: RoundJob,
        target: Target,
        folder: Path,
        restart: Callable[[], None],
        process: Callable[[], int],
        coverage: NativeCoverage,
        target_of: Callable[[str], Target],
    ) -> None:
        """restart: of the subject, after its death. process: the subject's number.

        coverage: of the subject's code in C. target_of: the target of any fuzzer.
        """
        self.target = target
        self._folder = folder
        self._restart = restart
        self._leaks = LeakWatch(process)
        self._coverage = coverage
        self._current = CurrentInput(folder / CURRENT)
        self._began = time.monotonic()
        self._seen = set(job.features)
        self._known = set(job.known)
        self._fuzzer, self._doubted, self._target_of = job.fuzzer, dict(job.doubted), target_of
        self._others: dict[str, Target] = {}
        self._skip = set(job.skip)
        self._repeats: Counter[str] = Counter()
        self._inapplicable, self._applied, self._tried = "", 0, 0

    def __call__(self, data: bytes) -> frozenset[int]:
        """Run one input; returns everything that it showed. A finding does not end the round."""
        self._tried += 1
        data = data[:LARGEST_INPUT]
        if self._skip and digest(data) in self._skip:
            return frozenset()
        self._current.begin(data)
        if self._current.count % _TALLY_EVERY == 0:
            self.count()
        self._coverage.begin()
        try:
            seen = tuple(self.target.run(data))
        except NOT_JUDGED as ended:
            self._inapplicable = self._inapplicable or one_line(str(ended))
            return frozenset()
        except Exception as ended:
            self._meet(data, ended, self._fails)
            seen = (signature(ended),)
        self._applied += 1
        features = self._coverage.features().union(zlib.crc32(feature.encode()) for feature in seen)
        self._look_for_leaks(data)
        self._keep(data, features)
        return features

    def is_hopeless(self) -> bool:
        """Whether the subject lacks what all inputs are about: to find that out with each would be no search.

        It is asked as a part of the first input, since a subject may die of it.
        """
        if not isinstance(self.target, HistoryTarget) or not self.target.seeds:
            return False
        self._current.begin(self.target.seeds[0])
        try:
            self.target.ask()
        except NOT_JUDGED as ended:
            self._inapplicable = one_line(str(ended))
        except Exception as ended:
            self._renew_after(ended)  # the first history will meet it, too
        self._current.forget()
        return bool(self._inapplicable)

    def count(self) -> None:
        """Leave what was counted up to now."""
        reason = "" if self._applied else self._inapplicable
        _put(self._folder / TALLY, Tally(repeats=dict(self._repeats), inapplicable=reason, tried=self._tried))

    def _keep(self, data: bytes, features: frozenset[int]) -> None:
        if features <= self._seen:
            return
        self._seen |= features
        _append(self._folder / KEPT, Kept(data=data, features=tuple(sorted(features))))

    def _look_for_leaks(self, data: bytes) -> None:
        """Find out of many inputs, after which something remained, one that leaks each time."""
        for suspect in self._leaks.suspects(data):
            leak = self._leaks.leak(self._fails, suspect)
            if leak is not None:
                self._meet(suspect, leak, lambda piece: self._leaks.fails(self._fails, piece))
                return

    def _meet(self, data: bytes, ended: Exception, fails: Callable[[bytes], str]) -> None:
        """Report a finding, unless it is known: as it is, since a smaller input may end the process, and made small.

        fails: the signature of how an input fails in this way.
        """
        after = time.monotonic() - self._began
        name, execution = signature(ended), self._current.count
        self._renew_after(ended)
        is_another = self._is_another(name, data, fails)
        if name in self._known and not is_another:
            self._repeats[name] += 1
            return
        self._known.add(name)
        found = Sighting(
            kind=kind_of(ended),
            where=where_of(ended),
            message=one_line(str(ended)),
            data=data,
            execution=execution,
            after=after,
            is_another=is_another,
        )
        _append(self._folder / FOUND, found)
        self._current.minimise(found.kind)
        attempts = _ATTEMPTS if found.kind != "leak" else _ATTEMPTS_OF_MANY_RUNS
        seconds = _LONGEST if isinstance(ended, Crashed | Hung) else math.inf
        smallest = minimised(data, self.target.pieces, fails, attempts, seconds)
        readable = self.target.readable(smallest)
        kept = readable if fails(readable) == name else smallest
        message = self._message(kept) or f"{ended}{'' if fails(kept) == name else f' {UNREPEATED}'}"
        _append(self._folder / FOUND, replace(found, message=one_line(message), data=kept))
        self._current.minimise("")

    def _is_another(self, name: str, data: bytes, fails: Callable[[bytes], str]) -> bool:
        """True where the input of the finding that is known by this name passes each time: its cause was mended.

        Looked for once: from then on the name stands for what is met now.
        """
        doubt = self._doubted.pop(name, None)
        if doubt is None or doubt.data == data:
            return False
        if doubt.fuzzer != self._fuzzer:
            fails = partial(failure, partial(self._run_of_another, doubt.fuzzer))
        return all(fails(doubt.data) != name for _ in range(TIMES_GREEN))

    def _fails(self, data: bytes) -> str:
        return failure(self._run, data)

    def _message(self, data: bytes) -> str:
        try:
            self._run(data)
        except Exception as ended:
            return str(ended) if isinstance(ended, CaseEnded) else f"{type(ended).__name__}: {ended}"
        return ""

    def _run(self, data: bytes) -> None:
        """Run an input while a finding is made smaller: noted, so that a crash of it is attributed too."""
        self._current.begin(data)
        self._run_on(lambda: self.target, data)

    def _run_of_another(self, fuzzer: str, data: bytes) -> None:
        """Run an input of another fuzzer, whose target may ask the subject when it is made."""

        def other() -> Target:
            if fuzzer not in self._others:
                self._others[fuzzer] = self._target_of(fuzzer)
            return self._others[fuzzer]

        self._run_on(other, data)

    def _run_on(self, target: Callable[[], Target], data: bytes) -> None:
        try:
            target().run(data)
        except (Crashed, Hung) as ended:
            self._renew_after(ended)
            raise

    def _renew_after(self, ended: Exception) -> None:
        """Restart a subject that has died. Targets stay: engines have one, and they know what is supported."""
        if isinstance(ended, Crashed | Hung):
            self._restart()
            for target in (self.target, *self._others.values()):
                target.forget()


def leave_out(folder: Path, reason: str) -> None:
    """End a round before its first input: there is nothing that its fuzzer could attack."""
    _put(folder / TALLY, Tally(inapplicable=one_line(reason)))


class FullError(BaseException):
    """What a round has to keep cannot be written: no finding, and nothing that an engine or a fuzzer may catch."""


def ending_of(error: BaseException, folder: Path) -> Ending:
    """How a round ends in which something was raised outside of any input.

    That is reported as a finding with the input before it, mostly one of the kind harness-defect: it is no death of the
    subject. Full disks and plug-ins that cannot be had are no findings, and a lack of memory is the subject's doing.
    """
    if isinstance(error, FullError | LoadError):
        print(error, file=sys.stderr, flush=True)
        return Ending.FULL if isinstance(error, FullError) else Ending.UNLOADED
    if isinstance(error, MemoryError) or not isinstance(error, Exception):
        raise error
    execution, data = CurrentInput(folder / CURRENT).read()
    message = str(error) if isinstance(error, CaseEnded) else f"{type(error).__name__}: {error}"
    found = Sighting(
        kind=kind_of(error), where=where_of(error), message=one_line(message), data=data, execution=execution
    )
    try:
        _append(folder / FOUND, found)
    except FullError as full:
        return ending_of(full, folder)
    return Ending.STOPPED


@contextmanager
def _keeping(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FullError(f"{path.parent}: cannot write {path.name}: {error.strerror}") from None


def _append(path: Path, document: Document) -> None:
    with _keeping(path):
        append_line(path, msgspec.json.encode(document))


def _put(path: Path, document: Document) -> None:
    with _keeping(path):
        write_whole(path, msgspec.json.encode(document))
