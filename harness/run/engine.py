"""Runs cases against a subject: the one engine behind the command, pytest, replay, faults and fuzz.

Nothing here is global: cases, subject and sink are arguments. Every selected case gets exactly one verdict.
"""

from __future__ import annotations

import datetime
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec.structs import replace

from npu_conformance.harness.judge import claims
from npu_conformance.harness.judge.classification import OutcomeDetails, SubjectLost, classify_exception
from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.harness.judge.waivers import Waivers
from npu_conformance.harness.run import own_files, seeds, work_of_devices
from npu_conformance.harness.run.applicability import inapplicable
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.interruption import deferred
from npu_conformance.harness.run.recording import case_result, unexecuted, with_output
from npu_conformance.specs.diagnostics import trace
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents import results
from npu_conformance.specs.documents.results import DESCRIPTION, FAILURE_FILE, HAZARDS, NOT_WRITTEN, CaseResult, Note
from npu_conformance.specs.outcomes import Outcome, worst

if TYPE_CHECKING:
    from npu_conformance.harness.run.baseline import Baseline
    from npu_conformance.harness.subject.handle import SubjectHandle

RunEnding = results.Ending
OnFailure = Callable[[CaseContext, CaseResult], str]
"""Called for each case that ended red, waived and known ones too, while its context is still there.

Writes the failure file, returns its name.
"""


class Sink(Protocol):
    """Receives what happens, as it happens."""

    def write(self, event: results.Event) -> None:
        """Take one event, and do not lose it: the process may be killed right after."""
        ...


class EngineOptions(msgspec.Struct, frozen=True):
    """How to run.

    seed: of the run. case_seed: of its only case, where that is known (replay). time_scale: how many times as long as
    usual stress cases work. seconds: budget; cases it does not reach are left out. only: one configuration (replay).
    stop_after: red cases after which the rest is not run. stop_file: where it is there, the rest is not run; it has the
    reason. plugin_words: the options that name the plug-in, for the header.
    """

    seed: int = 0
    case_seed: int | None = None
    shuffle: bool = False
    scope: Scope = Scope.DEFAULT
    time_scale: float = 1.0
    seconds: float | None = None
    only: str = ""
    stop_after: int | None = None
    stop_file: Path | None = None
    suite_version: str = ""
    plugin_words: str = ""
    digests: results.Digests = msgspec.field(default_factory=results.Digests)
    selection: results.Selection = msgspec.field(default_factory=results.Selection)
    waivers: str = ""
    baseline: str = ""


class Run(msgspec.Struct):
    """The state and result of a run.

    left_out: ids that the budget did not reach. reason: why it ended before its end.
    """

    results: list[CaseResult] = msgspec.field(default_factory=list)
    left_out: list[str] = msgspec.field(default_factory=list)
    ending: RunEnding = "complete"
    reason: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """Verdicts by outcome."""
        return dict(Counter(result.outcome.value for result in self.results))


class Engine:
    """One run. Either `run()`, or `begin()`, `run_case()` for each and `finish()` (the pytest adapter).

    earlier: results of the run that is resumed; their cases are not run again. beside: see CaseContext.
    """

    def __init__(
        self,
        cases: Iterable[Case],
        subject: SubjectHandle,
        sink: Sink,
        options: EngineOptions | None = None,
        *,
        waivers: Waivers | None = None,
        baseline: Baseline | None = None,
        earlier: Mapping[str, CaseResult] | None = None,
        on_failure: OnFailure | None = None,
        beside: SubjectHandle | None = None,
    ) -> None:
        self._subject = subject
        self._sink = sink
        self._options = options or EngineOptions()
        self._waivers = waivers or Waivers()
        self._baseline = baseline
        self._on_failure = on_failure
        self._beside = beside
        self._started = time.monotonic()
        self._red = 0
        """Of what ran here: what an earlier run that is resumed found does not stop this one."""
        self._has_begun = False
        self.outcome = Run()
        self._pending = self._plan(cases, earlier or {})

    def _plan(self, cases: Iterable[Case], earlier: Mapping[str, CaseResult]) -> dict[str, Case]:
        planned: dict[str, Case] = {}
        for case in cases:
            if case.id in planned:
                raise ValueError(f"two cases have the id {case.id}")
            planned[case.id] = case
        self._selected = tuple(planned)
        self._resumed = bool(earlier)
        self.outcome.results.extend(result for name, result in earlier.items() if name in planned)
        return {name: case for name, case in planned.items() if name not in earlier}

    def run(self, pass_over: Callable[[], None] = lambda: None) -> Run:
        """Run every case. An interrupt ends the run in order: what has no verdict yet is recorded as not-run.

        pass_over: called where the cases have run, so that no interrupt comes behind it, nor behind the first one.
        Raises KeyboardInterrupt where it comes before there is a header.
        """
        try:
            self.begin()
            self._run_in_order()
            pass_over()
        except KeyboardInterrupt:
            if not self._has_begun:
                raise
            self._end("interrupted", "interrupted")
        return self.finish()

    def begin(self) -> None:
        """Write the header."""
        with deferred():
            self._sink.write(header(self._options, self._subject, self._selected, resumed=self._resumed))
            self._has_begun = True

    def _run_in_order(self) -> None:
        order = list(self._pending.values())
        if self._options.shuffle:
            order = seeds.shuffled(order, self._options.seed)
        for case in order:
            if self.is_over():
                break
            self.run_case(case)

    def run_case(self, case: Case) -> CaseResult:
        """Run one case and record its verdict; it must be one of the engine's own and have none yet."""
        if case.id not in self._pending:
            raise ValueError(f"{case.id} is not selected, or has its verdict already")
        self._sink.write(results.CaseStarted(case=case.id))
        try:
            result = self._verdict(case)
        except KeyboardInterrupt:
            self._record(unexecuted(case, Outcome.NOT_RUN, "interrupted while it ran"))
            raise
        return self._record(result)

    def owes(self, case_id: str) -> bool:
        """True where the case is selected and has no verdict yet."""
        return case_id in self._pending

    def take(self, result: CaseResult) -> None:
        """Record a verdict that another process has given for a case that has none yet."""
        self._record(result)

    def finish(self) -> Run:
        """Give every case that has no verdict one (not-run), and write the footer."""
        reason = self.outcome.reason or "the run ended before it"
        for case in list(self._pending.values()):
            self._record(unexecuted(case, Outcome.NOT_RUN, reason))
        run = self.outcome
        seconds = time.monotonic() - self._started
        self._sink.write(results.RunFinished(counts=run.counts, seconds=seconds, ending=run.ending, reason=run.reason))
        return run

    def _verdict(self, case: Case) -> CaseResult:
        if self.outcome.ending == "subject-lost":
            return unexecuted(case, Outcome.NOT_RUN, self.outcome.reason)
        reason = inapplicable(case, self._subject.manifest, self._subject.version)
        if reason:
            return unexecuted(case, Outcome.NOT_APPLICABLE, reason)
        context = self._context(case)
        self._subject.begin_case(case.id)
        started = time.perf_counter()
        self._execute(case, context)
        result = case_result(case, context, time.perf_counter() - started)
        result = self._waivers.apply(claims.enforce(result, context.manifest.claims, context.version))
        if self._baseline is not None:
            result = self._baseline.mark(result)
        if is_red(result.outcome) or is_red(result.outcome, result.dispositions):
            result = replace(result, notes={**result.notes, DESCRIPTION: _described(case), **_hazards_of(case)})
            result = with_output(result, self._subject.account())
            if self._on_failure:
                result = _with_failure_file(self._on_failure, context, result)
        context.payload = None  # it may hold the context, and what is in a circle lives until the collector comes
        return result

    def _context(self, case: Case) -> CaseContext:
        options = self._options
        return CaseContext(
            case,
            self._subject,
            seed=seeds.case_seed(options.seed, case.id) if options.case_seed is None else options.case_seed,
            scope=options.scope,
            duration_scale=options.time_scale,
            only=options.only,
            tolerances_of=self._waivers.tolerances,
            beside=self._beside,
        )

    def _execute(self, case: Case, context: CaseContext) -> None:
        with trace.span("case", case.id):
            context.own.details = self._guarded(lambda: _judge(case, context), context)
        for step in (context.close, context.take_what_has_come):
            context.own.details = _graver(context.own.details, self._guarded(step, context))
        if case.interface == "runtime" and not context.own.details.lost_host:
            # Past the end of the case the runtime has its own drivers back: what scripted ones executed is no work.
            context.own.details = _graver(context.own.details, self._guarded(lambda: _tell_work(context), context))
        if self.outcome.ending != "subject-lost":
            recovery = self._guarded(lambda: context.recover(context.own, always=True), context)
            context.own.details = _graver(context.own.details, recovery)
        context.own.settle()

    def _guarded(self, step: Callable[[], object], context: CaseContext) -> OutcomeDetails:
        """Run a step and say how it ended. Losing the subject, or the suite, for good ends the run behind this case."""
        try:
            step()
        except SubjectLost as error:
            self._end("subject-lost", str(error))
            return OutcomeDetails(Outcome.CRASH, str(error))
        except Exception as error:
            if reason := own_files.lost(error):
                self._end("stopped", reason)
            return classify_exception(error, behind_restart=context.restarts > 0)
        return OutcomeDetails()

    def _record(self, result: CaseResult) -> CaseResult:
        """Give a case its verdict, as a whole: an interrupt in between would cost it, or make a second one follow."""
        with deferred():
            self._sink.write(results.CaseFinished(result=result))
            self._red += is_red(result.outcome, result.dispositions)
            self.outcome.results.append(result)
            del self._pending[result.case]
        return result

    def is_over(self) -> bool:
        """True where no further case is to run; what a budget did not reach is then left out."""
        options = self._options
        if self.outcome.ending == "stopped":
            return True
        if options.stop_after and self._red >= options.stop_after:
            self._end("stopped", stopped_after(self._red))
        elif options.stop_file is not None and options.stop_file.exists():
            self._end("stopped", options.stop_file.read_text(encoding="utf-8"))
        elif options.seconds is not None and time.monotonic() - self._started >= options.seconds:
            self.leave_out_rest()
        else:
            return False
        return True

    def leave_out_rest(self) -> None:
        """Leave out what has no verdict yet: the budget did not reach it."""
        reason = f"the budget of {self._options.seconds:g} s was used up"
        for name in self._pending:
            self._sink.write(results.CaseLeftOut(case=name, reason=reason))
        self.outcome.left_out.extend(self._pending)
        self._pending.clear()

    def _end(self, ending: RunEnding, reason: str) -> None:
        self.outcome.ending = ending
        self.outcome.reason = reason


def stopped_after(red: int) -> str:
    """Why a run ended that was to stop after so many red cases."""
    return f"stopped after {counted(red, 'red case')}"


def header(
    options: EngineOptions, subject: SubjectHandle, cases: tuple[str, ...], *, resumed: bool = False
) -> results.RunStarted:
    """Return the header of a run that begins now. cases: the ids of all that is selected."""
    return results.RunStarted(
        format=results.FORMAT,
        suite_version=options.suite_version,
        digests=options.digests,
        manifest=subject.manifest,
        hal_version=subject.version.value,
        seed=options.seed,
        shuffled=options.shuffle,
        selection=options.selection,
        cases=cases,
        time=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        resumed=resumed,
        plugin_words=options.plugin_words,
        waivers=options.waivers,
        baseline=options.baseline,
    )


def _judge(case: Case, context: CaseContext) -> None:
    """Run a case, where the subject has what the case is about."""
    context.present(getattr(context.subject.interfaces, case.interface), case.interface)
    if case.interface == "runtime":
        work_of_devices.taken(context.subject)  # what comes late of the case before is not this one's
    case.run(context)


def _tell_work(context: CaseContext) -> None:
    """Record which device executed what in the case."""
    context.executed_by = work_of_devices.taken(context.subject)


def _described(case: Case) -> str:
    """The headline of a case. That its vector cannot be read may be why the case is red: the run goes on."""
    try:
        return case.headline
    except Exception as error:
        return f"not known: {type(error).__name__}: {error}"


def _hazards_of(case: Case) -> dict[str, Note]:
    """What its vector looks at. Read only here, when something has failed."""
    if not case.hazards:
        return {}
    from npu_conformance.corpus.hazards import hazards_of

    return {HAZARDS: " ".join(hazard.sentence for hazard in hazards_of(case).values())}


def _with_failure_file(write: OnFailure, context: CaseContext, result: CaseResult) -> CaseResult:
    """Write the failure file. That it cannot be written must cost neither the verdict nor the run: it is noted,
    and turns the run red."""
    try:
        name = write(context, result)
    except Exception as error:
        name = f"{NOT_WRITTEN}{type(error).__name__}: {error}"
    return replace(result, notes={**result.notes, FAILURE_FILE: name})


def _graver(first: OutcomeDetails, later: OutcomeDetails) -> OutcomeDetails:
    """The graver of two.

    A clean-up that succeeds changes nothing, nor does a subject that stays silent after its crash or hang.
    """
    follows = first.lost_host and later.outcome is not Outcome.SUITE_ERROR
    if follows or later.outcome is Outcome.PASS or worst(first.outcome, later.outcome) is first.outcome:
        return first
    return later
