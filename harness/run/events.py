"""events.jsonl: what happened, one JSON line each, written as it happens, so that a killed run keeps what was done."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from npu_conformance.harness.judge.outcome_table import UNJUDGED
from npu_conformance.harness.report.writing import UnwritableError, writing
from npu_conformance.harness.run.engine import Sink
from npu_conformance.specs import documents
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import (
    CaseFinished,
    CaseLeftOut,
    CaseResult,
    CaseStarted,
    Event,
    RunFinished,
    RunStarted,
)
from npu_conformance.specs.documents.strangers import stranger
from npu_conformance.specs.outcomes import Outcome

_encoder = msgspec.json.Encoder()
decode: Callable[[bytes], Event] = msgspec.json.Decoder(Event).decode
"""One line of the event file. Raises MsgspecError."""


class EventLog:
    """A sink that appends to a file. Each event is one write of one whole line: a kill tears at most the last.

    resume: go on behind what the file holds; a torn last line is cut off. Otherwise the file starts anew.
    """

    def __init__(self, path: Path, *, resume: bool = False) -> None:
        self._path = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (0 if resume else os.O_TRUNC)
        with writing(path, "what happened"):
            path.parent.mkdir(parents=True, exist_ok=True)
            if resume and path.exists():
                _cut_torn_line(path)
            self._descriptor = os.open(path, flags, 0o644)

    def write(self, event: Event) -> None:
        """Append the event; it is with the operating system when this returns. Raises UnwritableError."""
        line = memoryview(_encoder.encode(event) + b"\n")
        with writing(self._path, "what happens (with room, the same command with --resume continues it)"):
            while line:
                line = line[os.write(self._descriptor, line) :]
            removed = os.fstat(self._descriptor).st_nlink == 0
        if removed:
            raise UnwritableError(f"{self._path}: was removed while the run went on")

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


class Tee:
    """A sink that passes every event on to several, in their order: the file first, then the progress display."""

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = tuple(sinks)

    def write(self, event: Event) -> None:
        """Pass the event on."""
        for sink in self._sinks:
            sink.write(event)


class Log(msgspec.Struct):
    """What an event file holds.

    headers: the first, and one for each resumption. results: the verdict of each case, an unjudged one replaced by what
    a resumption made of it. left_out: by the budget since the newest header. open_cases: started, no verdict. problems:
    lines that contradict each other, or are no events.
    """

    headers: list[RunStarted] = msgspec.field(default_factory=list)
    results: dict[str, CaseResult] = msgspec.field(default_factory=dict)
    left_out: dict[str, str] = msgspec.field(default_factory=dict)
    open_cases: dict[str, None] = msgspec.field(default_factory=dict)
    footer: RunFinished | None = None
    problems: list[str] = msgspec.field(default_factory=list)

    @property
    def header(self) -> RunStarted:
        """The newest header."""
        return self.headers[-1]

    def add(self, event: Event) -> None:
        """Add one event."""
        if isinstance(event, RunStarted):
            self.headers.append(event)
            self.footer = None
            self.left_out.clear()  # a resumption goes on with all of it, as far as its own budget reaches
        elif isinstance(event, CaseStarted):
            self.open_cases[event.case] = None
        elif isinstance(event, CaseFinished):
            self._add_result(event.result)
        elif isinstance(event, CaseLeftOut):
            self.left_out[event.case] = event.reason
        else:
            self.footer = event

    def _add_result(self, result: CaseResult) -> None:
        earlier = self.results.get(result.case)
        replaceable = UNJUDGED if len(self.headers) > 1 else (Outcome.NOT_RUN,)
        if earlier is not None and earlier.outcome not in replaceable:
            self.problems.append(
                f"{result.case} has two verdicts: {earlier.outcome.value}, then {result.outcome.value}"
            )
        self.open_cases.pop(result.case, None)
        self.left_out.pop(result.case, None)
        self.results[result.case] = result


def read_log(path: Path) -> Log:
    """Read an event file, also of a run that was killed: a torn last line is left out.

    Raises DocumentError where the file cannot be read or has no header. A line that is no event is reported in
    `problems`; the rest of the file is read all the same.
    """
    *lines, _ = documents.content(path).split(b"\n")
    log = Log()
    problems: list[DocumentError] = []
    for number, line in enumerate(lines, 1):
        try:
            log.add(_event(line, f"{path}:{number}"))
        except DocumentError as problem:
            problems.append(problem)
    if not log.headers:
        no_header = DocumentError(str(path), "", "no run has its events here: no header (run-started)")
        raise problems[0] if problems else no_header
    log.problems += map(str, problems)
    return log


def _event(line: bytes, where: str) -> Event:
    try:
        return decode(line)
    except msgspec.ValidationError as error:
        rule, path = stranger(line, Event) or documents.split_path(str(error))
        raise DocumentError(where, path, rule) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DocumentError(where, "", f"not JSON: {error}") from None


def _cut_torn_line(path: Path) -> None:
    data = path.read_bytes()
    if data and not data.endswith(b"\n"):
        os.truncate(path, data.rfind(b"\n") + 1)
