"""A run from start to report: opens the subject, feeds the engine, keeps the folder. Serves the command and pytest."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from npu_conformance import __version__
from npu_conformance.harness.judge import waivers
from npu_conformance.harness.judge.waivers import Waivers
from npu_conformance.harness.report import summary, table
from npu_conformance.harness.report.console import Paint, plain
from npu_conformance.harness.report.lines import ReplayCommands
from npu_conformance.harness.run import baseline, digests, events, results
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.engine import Engine, EngineOptions, OnFailure, Sink
from npu_conformance.harness.run.events import EventLog, Log
from npu_conformance.harness.run.failures import FailureWriter
from npu_conformance.harness.run.interruption import Interruption
from npu_conformance.harness.run.selection import in_scope
from npu_conformance.harness.subject.inference_tool import given_tool
from npu_conformance.harness.subject.loading import Isolation, LoadError, Starting, start_subject
from npu_conformance.specs import versions
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseResult, Digests, Event, Selection
from npu_conformance.specs.documents.summary import Results

if TYPE_CHECKING:
    from npu_conformance.harness.run.baseline import Baseline
    from npu_conformance.harness.subject.handle import SubjectHandle

EVENTS, FAILURES = "events.jsonl", "failures"
CONNECTION_OPTIONS = ("key-file",)
"""Options that say how to reach a plug-in rather than what it does."""
ROOT = Path(".npu-conformance")
TRANSPORTS = ("path", "descriptor", "message")


@dataclass(frozen=True)
class SessionOptions:
    """What a run needs to know, as on a command line. report: empty for the default folder, None for no report."""

    plugin: str
    plugin_options: tuple[str, ...] = ()
    hal: str | None = None
    isolation: Isolation = "process"
    transports: tuple[str, ...] = ()
    inference_tool: str | None = None
    inference_tool_uid: int | None = None
    scope: str = "default"
    waivers: str | None = None
    baseline: str | None = None
    vectors: str | None = None
    catalogues: tuple[str, ...] = ()
    report: str | None = ""
    seed: int = 0
    shuffle: bool = False
    resume: bool = False
    seconds: float | None = None
    stop_after: int | None = None

    @property
    def plugin_words(self) -> str:
        """The options that name the plug-in, for a command line."""
        words = ["--plugin", self.plugin]
        for option in self.plugin_options:
            words += ["--plugin-option", option]
        if self.hal:
            words += ["--hal", self.hal]
        if self.isolation != "process":
            words += ["--isolation", self.isolation]
        for transport in self.transports:
            words += ["--transport", transport]
        words += self.tool_words
        for folder in self.catalogues:
            words += ["--catalogue", folder]
        return shlex.join(words)

    @property
    def tool_words(self) -> list[str]:
        """The options that name the inference tool."""
        command = [] if self.inference_tool is None else ["--inference-tool", self.inference_tool]
        uid = [] if self.inference_tool_uid is None else ["--inference-tool-uid", str(self.inference_tool_uid)]
        return [*command, *uid]


@dataclass(frozen=True)
class Summary:
    """The result of a run. plugin_words: the options that name the plug-in; folder: of the report, None without one."""

    results: Results
    verdicts: tuple[CaseResult, ...]
    folder: Path | None
    plugin_words: str

    def lines(self, paint: Paint = plain, *, explained: bool = True) -> list[str]:
        """Return the verdict table, the conclusion, what is wrong, and what to do next.

        explained: False where what is wrong stands elsewhere already.
        """
        wrong = summary.wrong(self.verdicts, self.replays, paint) if explained else []
        told = summary.lines(self.results, self.verdicts, self.folder, self.plugin_words)
        return [*table.lines(self.results, paint), *wrong, *told]

    @property
    def replays(self) -> ReplayCommands:
        """The commands that run failures again."""
        return ReplayCommands(str(self.folder / FAILURES) if self.folder else FAILURES, self.plugin_words)

    @property
    def exit_code(self) -> int:
        """The exit code of the process: harness.judge.outcome_table says what each number means."""
        return self.results.exit_code


@dataclass
class Memory:
    """A sink that keeps the events for the results; the file is beside it."""

    events: list[Event] = field(default_factory=list)

    def write(self, event: Event) -> None:
        """Keep the event."""
        self.events.append(event)

    def log(self) -> Log:
        """The events as a log."""
        log = Log()
        for event in self.events:
            log.add(event)
        return log


class Session:
    """One run of one plug-in: `start`, `run_all` (or `begin`, `run_case`..., `finish`), `close` on every way out."""

    def __init__(self, options: SessionOptions) -> None:
        self.options = options
        self._starting: Starting | None = None
        self._subject: SubjectHandle | None = None
        self._engine: Engine | None = None
        self._waivers = Waivers()
        self._baseline: Baseline | None = None
        self._memory = Memory()
        self._interruption = Interruption()
        self._file: EventLog | None = None

    @property
    def started(self) -> bool:
        """True once there is a run to finish."""
        return self._engine is not None

    @property
    def subject(self) -> SubjectHandle:
        """The implementation under test, started when first asked for. Raises LoadError and DocumentError."""
        if self._subject is None:
            self.prepare()
            starting, self._starting = self._starting, None
            assert starting is not None
            import numpy  # noqa: F401  nearly every case compares arrays; the plug-in's import still goes on

            self._subject = open_by_options(self.options, starting)
        return self._subject

    def prepare(self) -> None:
        """Start the subject without waiting: its import goes on while cases are looked up. LoadError, DocumentError."""
        if self._subject is None and self._starting is None:
            self._starting = start_by_options(self.options)

    @property
    def folder(self) -> Path | None:
        """The folder of the report."""
        if self.options.report is None:
            return None
        return Path(self.options.report) if self.options.report else ROOT / self.subject.manifest.name

    @property
    def replays(self) -> ReplayCommands | None:
        """The commands that run failures again; None where there is no report."""
        return ReplayCommands(str(self.folder / FAILURES), self.options.plugin_words) if self.folder else None

    def in_scope(self, case: Case) -> bool:
        """True where the run's scope includes the case."""
        return in_scope(case, Scope(self.options.scope))

    def start(self, cases: Iterable[Case], selection: Selection | None = None, sinks: Sequence[Sink] = ()) -> None:
        """Read the documents, start the subject and open the event file. Raises LoadError and DocumentError."""
        options, found = self.options, self._digests()
        if options.waivers:
            self._waivers = waivers.load(Path(options.waivers))
        if options.baseline:
            self._baseline = baseline.load(Path(options.baseline), found)
        earlier = self._open_file(found)
        self._engine = Engine(
            cases,
            self.subject,
            events.Tee([*([self._file] if self._file else []), self._memory, *sinks, self._interruption]),
            EngineOptions(
                seed=options.seed,
                shuffle=options.shuffle,
                scope=Scope(options.scope),
                seconds=options.seconds,
                stop_after=options.stop_after,
                suite_version=__version__,
                digests=found,
                selection=selection or Selection(scope=Scope(options.scope).value),
            ),
            waivers=self._waivers,
            baseline=self._baseline,
            earlier=earlier,
            on_failure=self._failure_writer(found),
        )

    def run_all(self) -> Summary:
        """Run every case and write the report."""
        with self._interruption:
            self._running().run()
        return self._conclude()

    def begin(self) -> None:
        """Write the header, for a caller that runs case by case."""
        self._running().begin()

    def run_case(self, case: Case) -> CaseResult:
        """Run one case."""
        return self._running().run_case(case)

    def finish(self) -> Summary:
        """Give every case that has none a verdict, and write the report."""
        self._running().finish()
        return self._conclude()

    def _conclude(self) -> Summary:
        log = events.read_log(self._file_path()) if self._file else self._memory.log()
        return conclude(log, self.folder, self._waivers, self._baseline, self.options.plugin_words)

    def close(self) -> None:
        """End the subject and close the event file; safe to call twice."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._starting is not None:
            self._starting.cancel()
            self._starting = None
        if self._subject is not None:
            self._subject.close()
            self._subject = None

    def _running(self) -> Engine:
        if self._engine is None:
            raise RuntimeError("the session has not been started")
        return self._engine

    def _digests(self) -> Digests:
        vectors = Path(self.options.vectors) if self.options.vectors else None
        named = parse_options(self.options.plugin_options)
        return digests.digests(
            self.subject.manifest,
            self.subject.version,
            named,
            external_vectors=vectors,
            catalogues=tuple(map(Path, self.options.catalogues)),
        )

    def _file_path(self) -> Path:
        if self.folder is None:
            raise RuntimeError("the session keeps no report")
        return self.folder / EVENTS

    def _open_file(self, found: Digests) -> dict[str, CaseResult]:
        """Open the event file, and return the verdicts of the run that is resumed."""
        if self.folder is None:
            return {}
        path, earlier = self._file_path(), {}
        if self.options.resume and path.exists():
            earlier = events.earlier_results(events.read_log(path), found, str(path))
        try:
            self._file = events.EventLog(path, resume=self.options.resume)
        except OSError as error:
            raise DocumentError(str(self.folder), "", f"cannot keep the report: {error.strerror}") from None
        return earlier

    def _failure_writer(self, found: Digests) -> OnFailure | None:
        """Failure files of this run only: those of an earlier one are removed, unless it is resumed."""
        if self.folder is None:
            return None
        directory = self.folder / FAILURES
        if not self.options.resume:
            for old in directory.glob("*.json"):
                old.unlink()
        return FailureWriter(directory, __version__, found, self.options.plugin_words)


def start_by_options(options: SessionOptions) -> Starting:
    """Start the subject that a command line names. Raises LoadError and DocumentError."""
    named = parse_options(options.plugin_options)
    version = None
    if options.hal:
        try:
            version = versions.parse(options.hal)
        except ValueError as error:
            raise DocumentError("--hal", "", str(error)) from None
        # A plug-in that can serve several versions has an option of that name; others ignore it.
        named.setdefault("hal", version.value)
    return start_subject(
        options.plugin,
        named,
        options.isolation,
        options.transports or TRANSPORTS,
        version,
        inference_tool=given_tool(options.inference_tool, options.inference_tool_uid),
    )


def open_by_options(options: SessionOptions, starting: Starting | None = None) -> SubjectHandle:
    """Open the subject that a command line names. Raises LoadError, also for an option that the plug-in does not have.

    starting: where it has been started already.
    """
    subject = (starting or start_by_options(options)).open()
    known_names = {*subject.manifest.options, *CONNECTION_OPTIONS}
    unknown = [name for name in parse_options(options.plugin_options) if name not in known_names]
    if unknown and subject.manifest.options:
        subject.close()
        known = ", ".join(sorted(subject.manifest.options))
        raise LoadError(f"plug-in {options.plugin} has no option {unknown[0]!r}; it has {known}")
    return subject


def conclude(log: Log, folder: Path | None, applied: Waivers, compared: Baseline | None, plugin_words: str) -> Summary:
    """Build the results of what was recorded, and write results.json, junit.xml and report.html into the folder."""
    outcome = results.build(log, applied, compared)
    verdicts = tuple(results.complete(log, compared))
    if folder is not None:
        from npu_conformance.harness.report import junit, page

        replays = ReplayCommands(FAILURES, plugin_words)
        results.write(outcome, folder / results.FILE)
        (folder / "junit.xml").write_text(junit.document(outcome, verdicts, replays), encoding="utf-8")
        (folder / "report.html").write_text(page.document(outcome, verdicts, replays), encoding="utf-8")
    return Summary(outcome, verdicts, folder, plugin_words)


def parse_options(pairs: Iterable[str]) -> dict[str, str]:
    """`NAME=VALUE` words as a mapping. Raises DocumentError for a word without =."""
    parsed = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise DocumentError("plug-in option", "", f"expected NAME=VALUE, found {pair!r}")
        parsed[name] = value
    return parsed
