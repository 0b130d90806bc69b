"""Counts what a run recorded and draws the conclusion: from events alone, so that a killed run has results too."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from npu_conformance.harness.judge.outcome_table import SUITE_FAILED, WRONG, decisive, exit_code, row
from npu_conformance.harness.judge.waivers import Waivers
from npu_conformance.harness.run import conformance, operation_evidence, selection
from npu_conformance.harness.run.baseline import Baseline
from npu_conformance.harness.run.events import Log
from npu_conformance.harness.run.evidence import by_requirement
from npu_conformance.specs import documents
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents import results
from npu_conformance.specs.documents.results import FAILURE_FILE, NOT_WRITTEN, CaseResult
from npu_conformance.specs.documents.storing import write_whole
from npu_conformance.specs.documents.summary import (
    CaseSummary,
    Comparison,
    Counts,
    OperationCounts,
    Results,
    Unexecuted,
)
from npu_conformance.specs.documents.waivers import WaiverUse
from npu_conformance.specs.outcomes import Disposition, Outcome

_NO_VERDICT = "no verdict was recorded"


def build(
    log: Log, waivers: Waivers | None = None, baseline: Baseline | None = None, *, must_conform: bool = False
) -> Results:
    """Return the results of a run. With a baseline only regressions against it are red.

    must_conform: a run that does not show that the subject conforms is red, whatever its cases say.
    """
    verdicts = complete(log, baseline)
    found = _findings(log, verdicts, waivers, baseline)
    if must_conform and found.reasons:
        found.red.append("not shown to be conformant, which --require-conformant asks for")
    return _results(log, verdicts, found, baseline.compare(verdicts) if baseline else None)


class _Findings(msgspec.Struct):
    """What is wrong with a run as a whole. reasons: why it does not show that the subject conforms."""

    problems: list[str]
    red: list[str]
    reasons: list[str]
    waivers: tuple[WaiverUse, ...]


def _findings(
    log: Log, verdicts: Sequence[CaseResult], waivers: Waivers | None, baseline: Baseline | None
) -> _Findings:
    problems = [*log.problems, *bookkeeping_problems(log), *_unwritten(verdicts)]
    uses = waivers.uses(verdicts, selection.all_ids) if waivers else ()
    red = waivers.problems(uses, whole=not log.header.selection.shard) if waivers else []
    if baseline:
        red = [*red, *baseline.regressions(verdicts), *baseline.unrun(verdicts)]
    return _Findings(problems, red, conformance.reasons(log, verdicts, red, problems), uses)


def _results(log: Log, verdicts: Sequence[CaseResult], found: _Findings, comparison: Comparison | None) -> Results:
    """The document: what ran, how it ended, the counts, and what stands behind each of them."""
    header = log.header
    return Results(
        format=results.FORMAT,
        suite_version=header.suite_version,
        digests=header.digests,
        manifest=header.manifest,
        hal_version=header.hal_version,
        seed=header.seed,
        selection=header.selection,
        plugin_words=header.plugin_words,
        time=log.headers[0].time,
        seconds=sum(result.seconds for result in verdicts),
        complete=log.footer is not None and log.footer.ending == "complete",
        conformant=not found.reasons,
        reasons=tuple(found.reasons),
        exit_code=_exit_code(log, verdicts, found.red, found.problems),
        red=tuple(found.red),
        problems=tuple(found.problems),
        baseline=comparison,
        counts=_counts(verdicts),
        configuration_counts=_configuration_counts(verdicts),
        waived=_with(verdicts, Disposition.WAIVED),
        quality_warnings=_with(verdicts, Disposition.QUALITY_WARNING),
        by_suite=_grouped((result.case.partition(".")[0], result) for result in verdicts),
        by_requirement=by_requirement(verdicts),
        by_operation=by_operation(verdicts),
        unsupported=unsupported(verdicts),
        thin_coverage=tuple(conformance.thin_coverage(verdicts)),
        not_run=_not_run(verdicts),
        left_out=tuple(Unexecuted(case=name, reason=reason) for name, reason in log.left_out.items()),
        cases=tuple(map(_summary, verdicts)),
        waivers=found.waivers,
        executed_by=operation_evidence.work(verdicts),
    )


def write(outcome: Results, path: Path) -> None:
    """Write results.json, readable, in one step: a reader never sees half of it."""
    write_whole(path, msgspec.json.format(msgspec.json.encode(outcome), indent=1) + b"\n")


def read(path: Path) -> Results:
    """Read a results.json; raises DocumentError."""
    return documents.read(path, Results)


def complete(log: Log, baseline: Baseline | None = None) -> list[CaseResult]:
    """Return a verdict for each selected case, in order of the header; one without it, not left out, is not-run.

    baseline: marks what is known of the cases that the engine had no verdict for, too.
    """
    verdicts = []
    for name in selected(log):
        if name in log.results:
            verdicts.append(log.results[name])
        elif name not in log.left_out:
            verdicts.append(_missing(name, log))
    return [baseline.mark(result) for result in verdicts] if baseline else verdicts


def selected(log: Log) -> tuple[str, ...]:
    """Every case that any header of the run asked for, each once."""
    return tuple(dict.fromkeys(name for header in log.headers for name in header.cases))


def bookkeeping_problems(log: Log) -> list[str]:
    """Contradictions in what was recorded: signs of a bug of the suite, never of the subject."""
    asked = set(selected(log))
    problems = [f"{name} has a verdict, but was not selected" for name in log.results if name not in asked]
    if log.footer is None:
        return problems
    lost = [name for name in selected(log) if name not in log.results and name not in log.left_out]
    problems += [f"{name} was selected, but the run ended without a verdict for it" for name in lost]
    held = _counts(log.results[name] for name in log.header.cases if name in log.results)
    if dict(log.footer.counts) != held:
        problems.append(f"the footer counts {dict(log.footer.counts)}, the events hold {held}")
    return problems


def by_operation(verdicts: Iterable[CaseResult]) -> tuple[OperationCounts, ...]:
    """Verdicts on executing each operation with each type, sorted by both.

    A pass counts for what was executed in it. That a model or a request is refused says nothing of an operation.
    """
    return _counted((result, operation_evidence.asked(result)) for result in verdicts)


def unsupported(verdicts: Iterable[CaseResult]) -> tuple[OperationCounts, ...]:
    """Operation and type of every case the subject does not support, with how many."""
    left = (result for result in verdicts if result.outcome is Outcome.NOT_SUPPORTED and result.operations)
    return _counted((result, operation_evidence.refused(result)) for result in left)


def _counted(verdicts: Iterable[tuple[CaseResult, Mapping[str, Sequence[str]]]]) -> tuple[OperationCounts, ...]:
    counted: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for result, operations in verdicts:
        for operation, types in operations.items():
            for kind in types or ("",):
                counted[operation, kind][result.outcome.value] += 1
    return tuple(
        OperationCounts(operation=operation, type=kind, counts=dict(counts))
        for (operation, kind), counts in sorted(counted.items())
    )


def _missing(name: str, log: Log) -> CaseResult:
    reason = f"{_NO_VERDICT}: the run died in it" if name in log.open_cases else _NO_VERDICT
    return CaseResult(case=name, outcome=Outcome.NOT_RUN, own_outcome=Outcome.NOT_RUN, message=reason)


def _exit_code(log: Log, verdicts: Sequence[CaseResult], red: list[str], problems: list[str]) -> int:
    """The gravest of all parts. An interrupted run says nothing of the subject: the suite failed to do its work."""
    if log.footer is not None and log.footer.ending == "interrupted":
        return SUITE_FAILED
    codes = [row(result.outcome, result.dispositions).exit_code for result in verdicts]
    return exit_code([*codes, *(WRONG for _ in red), *(SUITE_FAILED for _ in problems)])


def _counts(verdicts: Iterable[CaseResult]) -> Counts:
    return dict(Counter(result.outcome.value for result in verdicts))


def _not_run(verdicts: Iterable[CaseResult]) -> tuple[Unexecuted, ...]:
    missed = (result for result in verdicts if result.outcome is Outcome.NOT_RUN)
    return tuple(Unexecuted(case=result.case, reason=result.message) for result in missed)


def _configuration_counts(verdicts: Iterable[CaseResult]) -> Counts:
    counts = Counter(part.outcome for result in verdicts for part in result.configurations)
    return {outcome.value: counts[outcome] for outcome in Outcome if outcome in counts}


def _unwritten(verdicts: Iterable[CaseResult]) -> Iterator[str]:
    """A line where failure files could not be written: what is in none cannot be replayed."""
    notes = {result.case: str(result.notes.get(FAILURE_FILE, "")) for result in verdicts}
    lost = {case: note.removeprefix(NOT_WRITTEN) for case, note in notes.items() if note.startswith(NOT_WRITTEN)}
    if lost:
        case, reason = next(iter(lost.items()))
        yield f"{counted(len(lost), 'failure file')} could not be written, of {case} first: {reason}"


def _with(verdicts: Iterable[CaseResult], disposition: Disposition) -> int:
    return sum(disposition in result.dispositions for result in verdicts)


def _grouped(pairs: Iterable[tuple[str, CaseResult]]) -> dict[str, Counts]:
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for name, result in pairs:
        counted[name][result.outcome.value] += 1
    return {name: dict(counts) for name, counts in sorted(counted.items())}


def _first_message(result: CaseResult) -> str:
    """Return the message of the first of the configurations that explain the outcome."""
    told = (part for part in decisive(result) if part.message)
    return next((f"#{part.name}: {part.message}" for part in told), "")


def _summary(result: CaseResult) -> CaseSummary:
    return CaseSummary(
        case=result.case,
        outcome=result.outcome,
        message=result.message or _first_message(result),
        dispositions=result.dispositions,
        configurations={part.name: part.outcome for part in result.configurations},
        measurements=result.measurements,
        waived=tuple(part.name for part in result.configurations if Disposition.WAIVED in part.dispositions),
        seconds=round(result.seconds, 6),
    )
