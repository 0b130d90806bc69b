"""A run from start to report: opens the subject, feeds the engine, keeps the folder. Serves the command and pytest."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from npu_conformance import __version__
from npu_conformance.harness.judge import waivers
from npu_conformance.harness.judge.waivers import Waivers
from npu_conformance.harness.report import figures, summary, table
from npu_conformance.harness.report.console import Paint, plain
from npu_conformance.harness.report.lines import ReplayCommands
from npu_conformance.harness.report.writing import writing
from npu_conformance.harness.run import baseline, digests, engine, events, folders, results, resuming, shards
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.engine import Engine, EngineOptions, OnFailure, Sink
from npu_conformance.harness.run.events import EventLog, Log
from npu_conformance.harness.run.executing.executors import EXECUTORS
from npu_conformance.harness.run.failures import FailureWriter
from npu_conformance.harness.run.folders import EVENTS, FAILURES, RESULTS, ROOT, ReportFolder
from npu_conformance.harness.run.interruption import Interruption
from npu_conformance.harness.run.session_options import (
    SessionOptions,
    open_beside,
    open_by_options,
    start_by_options,
)
from npu_conformance.harness.subject.plugin_options import parse_options
from npu_conformance.specs import judged_as
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseResult, Digests, Event, RunStarted, Selection
from npu_conformance.specs.documents.summary import Results

if TYPE_CHECKING:
    from npu_conformance.harness.run.baseline import Baseline
    from npu_conformance.harness.subject.handle import SubjectHandle
    from npu_conformance.harness.subject.loading import Starting

_COLLECTIONS = (10_000, 20, 50)
"""So many new objects, and collections of the younger generation, before the garbage collector goes through one."""


class Summary(msgspec.Struct, frozen=True):
    """The result of a run.

    plugin_words: the options that name the plug-in; folder: of the report, None without one. notice: what the user has
    to know of the report folder; empty for nothing.
    """

    results: Results
    verdicts: tuple[CaseResult, ...]
    folder: Path | None
    plugin_words: str
    notice: str = ""

    def lines(
        self, paint: Paint = plain, *, explained: bool = True, already_explained: Collection[str] = frozenset()
    ) -> list[str]:
        """Return the verdict table, the conclusion, what is wrong, and what to do next.

        explained: False where what is wrong stands elsewhere already; already_explained: the cases of which the first
        reason does.
        """
        wrong = summary.wrong(self.verdicts, self.replays, paint, already_explained) if explained else []
        notice = [self.notice] if self.notice else []
        closing = summary.lines(self.results, self.verdicts, self.folder, self.plugin_words)
        return [*table.lines(self.results, paint), *figures.lines(self.verdicts), *wrong, *notice, *closing]

    @property
    def replays(self) -> ReplayCommands:
        """The commands that run failures again."""
        return replay_commands(self.folder, self.plugin_words)

    @property
    def exit_code(self) -> int:
        """The exit code of the process: harness.judge.outcome_table says what each number means."""
        return self.results.exit_code


class KeptEvents(msgspec.Struct):
    """A sink that keeps the events for the results; the file is beside it."""

    events: list[Event] = msgspec.field(default_factory=list)

    def write(self, event: Event) -> None:
        """Keep the event."""
        self.events.append(event)

    def log(self) -> Log:
        """The events as a log."""
        log = Log()
        for event in self.events:
            log.add(event)
        return log


class Opened(msgspec.Struct, frozen=True):
    """A run whose report folder is open. earlier: the verdicts of the run that is resumed."""

    options: EngineOptions
    header: RunStarted
    earlier: Mapping[str, CaseResult]


class Session:
    """One run of one plug-in: `start`, `run_all` (or `begin`, `run_case`..., `finish`), `close` on every way out."""

    def __init__(self, options: SessionOptions, starting: Starting | None = None) -> None:
        """starting: the subject, where it has been started already."""
        self.options = options
        self._starting = starting
        self._subject: SubjectHandle | None = None
        self._beside: SubjectHandle | None = None
        self._engine: Engine | None = None
        self._waivers = Waivers()
        self._baseline: Baseline | None = None
        self._kept = KeptEvents()
        self.interruption = Interruption()
        self._report: ReportFolder | None = None
        self._file: EventLog | None = None
        self._notice = self._covered = ""

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
            self._import_what_is_needed_later()
            self._subject = open_by_options(self.options, starting)
        return self._subject

    def _import_what_is_needed_later(self) -> None:
        """Import while the plug-in's import goes on: nearly every case compares arrays, and most runs end in a page."""
        import numpy  # noqa: F401

        if self.options.report is not None and not self.options.part_of:
            from npu_conformance.harness.report import junit, page, templating  # noqa: F401

            templating.environment()

    def prepare(self) -> None:
        """Start the subject without waiting: its import goes on while cases are looked up. LoadError, DocumentError."""
        if self._subject is None and self._starting is None:
            self._starting = start_by_options(self.options)

    @property
    def folder(self) -> Path | None:
        """The folder of the report; None before it is opened, and where there is no report."""
        return self._report.path if self._report else None

    @property
    def home(self) -> Path:
        """Where the reports of the plug-in are, by time."""
        return ROOT / self.subject.manifest.name

    @property
    def replays(self) -> ReplayCommands | None:
        """The commands that run failures again; None where there is no report."""
        return replay_commands(self.folder, self.options.plugin_words) if self.folder else None

    def earlier_folder(self) -> Path:
        """The folder of the run that --resume and --last-failed mean. Raises DocumentError where there is none.

        It is the one of --report; where that is new, --last-failed means the latest run of the plug-in.
        """
        options, latest = self.options, self.home / folders.LATEST
        places = [Path(options.report)] if options.report else [latest]
        places += [] if options.resume else [latest]
        found = (folders.resolve(place) for place in places)
        folder = next((place for place in found if (place / EVENTS).exists()), None)
        if folder is None:
            raise DocumentError(str(places[0]), "", "there is no earlier run here")
        return folder

    def earlier_folders(self) -> list[Path]:
        """The folder that --last-failed looks at first, then those of the runs before it. Raises DocumentError."""
        folder = self.earlier_folder()
        return [folder, *(earlier for earlier in folders.before(folder) if (earlier / EVENTS).exists())]

    def open_report(self, cases: Iterable[Case], selection: Selection | None = None) -> Opened:
        """Read the documents and open the report folder, for a run that begins. Raises LoadError and DocumentError."""
        options, found = self.options, self._digests()
        self._waivers = waivers.load_all(map(Path, options.waivers), ways=EXECUTORS)
        if options.baseline:
            self._baseline = baseline.load(Path(options.baseline), found, self.subject.version.value)
        described = selection or Selection(scope=Scope(options.scope).value)
        engine_options = self._engine_options(found, described)
        header = engine.header(engine_options, self.subject, tuple(case.id for case in cases))
        return Opened(engine_options, header, self._open_folder(header))

    def start(self, cases: Iterable[Case], selection: Selection | None = None, sinks: Sequence[Sink] = ()) -> None:
        """Start the subject, read the documents and open the event file. Raises LoadError and DocumentError."""
        taken, subject = list(cases), self.subject
        self._beside = open_beside(self.options)
        opened = self.open_report(taken, selection)
        if self.folder is not None:
            self._file = EventLog(self.folder / EVENTS, resume=True)
        self._engine = Engine(
            taken,
            subject,
            events.Tee([*([self._file] if self._file else []), self._kept, *sinks, self.interruption]),
            opened.options,
            waivers=self._waivers,
            baseline=self._baseline,
            earlier=opened.earlier,
            on_failure=self._failure_writer(opened.options.digests),
            beside=self._beside,
        )
        # What was made until now lives as long as the run: the collector need not go through it again and again,
        # nor, as often as it does by itself, through all verdicts and vectors that are kept.
        gc.freeze()
        gc.set_threshold(*_COLLECTIONS)

    @property
    def earlier(self) -> tuple[CaseResult, ...]:
        """The verdicts of the run that is resumed, before this one has any."""
        return tuple(self._running().outcome.results)

    def run_all(self) -> Summary:
        """Run every case and write the report."""
        with self.interruption:
            self._running().run(self.interruption.pass_over)
            self.interruption.require_report()
            return self._conclude()

    def begin(self) -> None:
        """Write the header, for a caller that runs case by case."""
        self._running().begin()

    def run_case(self, case: Case) -> CaseResult:
        """Run one case."""
        return self._running().run_case(case)

    def owes(self, case_id: str) -> bool:
        """True where the case has no verdict yet."""
        return self._running().owes(case_id)

    def take(self, result: CaseResult) -> None:
        """Record the verdict that another process has given."""
        self._running().take(result)

    def is_over(self) -> bool:
        """True where no further case is to run."""
        return self._running().is_over()

    @property
    def is_interrupted(self) -> bool:
        """True where somebody has ended the run."""
        return self._running().outcome.ending == "interrupted"

    def leave_out_rest(self) -> None:
        """Leave out what has no verdict yet: the budget did not reach it."""
        self._running().leave_out_rest()

    def finish(self) -> Summary:
        """Give every case that has none a verdict, and write the report."""
        with self.interruption:
            self.interruption.pass_over()
            self._running().finish()
            return self._conclude()

    def _conclude(self) -> Summary:
        return self.conclude(events.read_log(self.folder / EVENTS) if self.folder else self._kept.log())

    def conclude(self, log: Log) -> Summary:
        """Write the report of what was recorded."""
        folder = None if self.options.part_of else self.folder
        must_conform = self.options.require_conformant and not self.options.part_of
        outcome = results.build(log, self._waivers, self._baseline, must_conform=must_conform)
        summary = conclude(log, outcome, folder, self._baseline, self.options.plugin_words)
        if self._report is not None:
            with writing(self._report.path, "the report"):
                self._report.mark(self._covered if outcome.is_whole else "")
        return replace(summary, notice=self._notice)

    def close_subject(self) -> None:
        """End the subject, for a run whose shards start their own; safe to call twice."""
        if self._starting is not None:
            self._starting.cancel()
            self._starting = None
        if self._subject is not None:
            self._subject.close()
            self._subject = None
        if self._beside is not None:
            self._beside.close()
            self._beside = None

    def close(self) -> None:
        """End the subject, close the event file and leave the report folder; safe to call twice."""
        gc.unfreeze()
        if self._file is not None:
            self._file.close()
            self._file = None
        self.close_subject()
        if self._report is not None:
            self._report.close()
            self._report = None

    def _running(self) -> Engine:
        if self._engine is None:
            raise RuntimeError("the session has not been started")
        return self._engine

    def _digests(self) -> Digests:
        named = parse_options(self.options.plugin_options)
        return digests.digests(
            self.subject.manifest,
            self.subject.version,
            named,
            external_vectors=tuple(map(Path, self.options.vectors)),
            catalogues=tuple(map(Path, self.options.catalogues)),
            plugins=[spec for spec in (self.options.plugin, self.options.beside) if spec is not None],
        )

    def _engine_options(self, found: Digests, selection: Selection) -> EngineOptions:
        options = self.options
        return EngineOptions(
            seed=options.seed,
            shuffle=options.shuffle,
            scope=Scope(options.scope),
            time_scale=options.time_scale,
            seconds=options.seconds,
            stop_after=options.stop_after,
            stop_file=Path(options.report, folders.STOP) if options.part_of and options.report else None,
            suite_version=__version__,
            plugin_words=options.plugin_words,
            digests=found,
            selection=selection,
            waivers=digests.of_files(map(Path, options.waivers)),
            baseline=digests.of_file(folders.results_file(Path(options.baseline))) if options.baseline else "",
        )

    def _open_folder(self, header: RunStarted) -> dict[str, CaseResult]:
        """Open the report folder, and return the verdicts of the run that is resumed."""
        options = self.options
        if options.report is None:
            return {}
        if options.keep < 1:
            raise DocumentError("--keep", "", f"expected a positive number, found {options.keep}")
        version = judged_as.short(header.manifest, header.hal_version)
        self._covered = folders.covers(version, header.selection, options.transports)
        if options.resume:
            return self._resume(header)
        named = Path(options.report or self.home)
        if not options.report or folders.is_home(named):
            about = folders.label(version, header.selection, options.transports)
            self._report = folders.create(named, about, options.keep, self._covered)
            self._notice = self._report.removal
            return {}
        self._report, moved = folders.take(named, options.keep, self._covered)
        kept = f"the earlier run in {options.report} is kept in {moved}" if moved else ""
        self._notice = "\n".join(filter(None, (kept, self._report.removal)))
        return {}

    def _resume(self, header: RunStarted) -> dict[str, CaseResult]:
        folder = self.earlier_folder()
        resuming.require_same(events.read_log(folder / EVENTS).header, header, str(folder))
        self._report = folders.reopen(folder)
        shards.absorb(folder)
        return resuming.earlier_results(events.read_log(folder / EVENTS))

    def _failure_writer(self, found: Digests) -> OnFailure | None:
        if self.folder is None:
            return None
        whole = Path(self.options.part_of) if self.options.part_of else self.folder
        return FailureWriter(whole / FAILURES, __version__, found, self.options.plugin_words)


def conclude(log: Log, outcome: Results, folder: Path | None, compared: Baseline | None, plugin_words: str) -> Summary:
    """Write results.json, junit.xml and report.html of what was recorded into the folder. Raises UnwritableError."""
    verdicts = tuple(results.complete(log, compared))
    if folder is not None:
        from npu_conformance.harness.report import junit, page

        replays = replay_commands(folder, plugin_words)
        with writing(folder, "the report"):
            results.write(outcome, folder / RESULTS)
            (folder / "junit.xml").write_text(junit.document(outcome, verdicts, replays), encoding="utf-8")
            (folder / "report.html").write_text(page.document(outcome, verdicts, replays), encoding="utf-8")
    return Summary(outcome, verdicts, folder, plugin_words)


def replay_commands(folder: Path | None, plugin_words: str) -> ReplayCommands:
    """The commands that run the failures of a report folder again, from where the run was started."""
    return ReplayCommands(str(folder / FAILURES) if folder else FAILURES, plugin_words)
