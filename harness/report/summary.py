"""The end of a run in words: what is wrong by symptoms, the first of each explained, and what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from npu_conformance.corpus.zoo import NOT_FETCHED
from npu_conformance.harness.judge.outcome_table import WAIVABLE, is_red
from npu_conformance.harness.report import symptoms
from npu_conformance.harness.report.console import Paint, plain
from npu_conformance.harness.report.lines import ReplayCommands, excuse, explain
from npu_conformance.harness.subject.inference_tool import IGNORED
from npu_conformance.specs.diagnostics import shell
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.results import FAILURE_FILE, CaseResult
from npu_conformance.specs.documents.summary import Results
from npu_conformance.specs.outcomes import Outcome

_EXPLAINED = 3
"""How many symptoms have their first case explained; the report explains all."""
_FILES = "report.html, results.json, junit.xml"


def wrong(
    verdicts: Iterable[CaseResult],
    replays: ReplayCommands,
    paint: Paint = plain,
    told: Collection[str] = frozenset(),
) -> list[str]:
    """The symptoms, then the first case of the most frequent ones; nothing where all is well.

    told: the cases whose first reason the same reader has been told.
    """
    found = symptoms.grouped(red_that_ran(verdicts))
    first = [symptom.cases[0] for symptom in found[:_EXPLAINED]]
    explained = "\n".join(
        explain(result, paint, replays.of(result), with_reason=result.case not in told) for result in first
    )
    return [*symptoms.lines(found, paint), *(explained.split("\n") if first else [])]


def red_that_ran(verdicts: Iterable[CaseResult]) -> list[CaseResult]:
    """The red cases that ran; nothing is known of those that did not."""
    red = (result for result in verdicts if is_red(result.outcome, result.dispositions))
    return [result for result in red if result.outcome is not Outcome.NOT_RUN]


def excused_that_ran(verdicts: Iterable[CaseResult]) -> list[CaseResult]:
    """The cases that ran and would be red, were they not waived or known to the baseline."""
    return [result for result in verdicts if excuse(result) and result.outcome in WAIVABLE]


def excuses(excused: Iterable[CaseResult]) -> str:
    """How many cases have which excuse, such as `24 known, 18 waived`."""
    counts = Counter(excuse(result) for result in excused)
    return ", ".join(f"{counts[name]:,} {name}" for name in sorted(counts))


def lines(results: Results, verdicts: Iterable[CaseResult], folder: Path | None, plugin: str) -> list[str]:
    """What to do next. plugin: the options that name the plug-in; folder: of the report, None where there is none."""
    seen = list(verdicts)
    told: list[str] = []
    if folder is not None:
        told += [*_all_failures(seen, folder), *_quality(results, folder)]
        if not results.complete:
            told.append("next: the run did not finish; the same command with --resume continues it")
    told += [*_without_tool(seen), *_without_model(seen), *_unsupported(seen, plugin)]
    red = any(is_red(result.outcome, result.dispositions) for result in seen)
    if not red and not results.conformant and results.selection.deselected and not results.exit_code:
        told.append(f"next: for a verdict on all of it: npu-conformance run {plugin}")
    return [*told, *([f"report: {folder} ({_files(seen)})"] if folder is not None else [])]


def _files(verdicts: Sequence[CaseResult]) -> str:
    """What is in the folder of a report; it has a folder of failures only where there are some."""
    named = any(str(result.notes.get(FAILURE_FILE, "")).endswith(".json") for result in verdicts)
    return _FILES + (", failures/" if named else "")


def _all_failures(verdicts: Sequence[CaseResult], folder: Path) -> Iterator[str]:
    report = f"npu-conformance report {shell.quoted(str(folder))}"
    command = f"{report} --failures"
    excused = excuses(excused_that_ran(verdicts))
    if red := red_that_ran(verdicts):
        found = symptoms.grouped(red)
        if symptoms.split(found)[1]:
            yield f"all {len(found):,} causes: {report} --causes"
        yield f"explain all of them{f', and {excused}' if excused else ''}: {command}"
    elif excused:
        yield f"explain what is excused, {excused}: {command}"


def _quality(results: Results, folder: Path) -> Iterator[str]:
    if results.quality_warnings:
        command = f"npu-conformance report {shell.quoted(str(folder))} --warnings"
        yield f"{counted(results.quality_warnings, 'case')} with a quality warning: {command}"


def _without_tool(verdicts: Sequence[CaseResult]) -> Iterator[str]:
    count = sum(result.message == IGNORED for result in verdicts)
    if count:
        yield f"{counted(count, 'case')} not applicable: {IGNORED}"


def _without_model(verdicts: Sequence[CaseResult]) -> Iterator[str]:
    count = sum(result.message.startswith(NOT_FETCHED) for result in verdicts)
    if count:
        where = "models from packages are missing; npu-conformance models fetch downloads them"
        yield f"{counted(count, 'case')} not applicable, as {where}"


def _unsupported(verdicts: Sequence[CaseResult], plugin: str) -> Iterator[str]:
    """Suggest a first operation to a device that executes none, right or wrong."""
    asked = [
        result
        for result in verdicts
        if result.operations and result.interface == "device" and result.outcome is not Outcome.NOT_APPLICABLE
    ]
    refused = [result for result in asked if result.outcome is Outcome.NOT_SUPPORTED]
    tried = any(result.outcome is not Outcome.NOT_SUPPORTED and result.group == "execution" for result in asked)
    if refused and not tried:
        operations = sorted({name for result in refused for name in result.operations})
        simple = "RELU" if "RELU" in operations else operations[0]
        is_of_extension = all(result.case.startswith("vts.extension.") for result in refused)
        area = "extension" if is_of_extension else "generated"
        yield (
            f"next: nothing is executed: {counted(len(refused), 'case')} not supported. Let getSupportedOperations "
            f"accept one operation, {simple} say, then: npu-conformance run vts.{area}.{simple} {plugin}"
        )
