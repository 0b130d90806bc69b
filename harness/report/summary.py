"""What to do next after a run: what is wrong by frequency, how to run the first failures again, where to look."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.harness.report.console import Paint, plain
from npu_conformance.harness.report.lines import first_reason, guilty
from npu_conformance.harness.subject.inference_tool import IGNORED
from npu_conformance.specs.documents.results import FAILURE_FILE, CaseResult
from npu_conformance.specs.documents.summary import Results
from npu_conformance.specs.outcomes import Outcome

_GROUPS, _REPLAYS, _NAMED = 5, 3, 3
_NUMBER = re.compile(r"\d[\d.]*")
_CONFIGURATION = re.compile(r"^#\S+: ")
_PARTICULARS = re.compile(r", found |; ")
FILES = "report.html, results.json, junit.xml, failures/"


@dataclass
class _Kind:
    """Red cases that say the same but for numbers. text: of the first of them."""

    outcome: str
    text: str
    count: int = 0
    guilty: Counter[str] = field(default_factory=Counter)


def lines(
    results: Results, verdicts: Iterable[CaseResult], folder: Path | None, plugin: str, paint: Paint = plain
) -> list[str]:
    """The advice, line by line. plugin: the options that name the plug-in; folder: of the report, null for none."""
    seen = list(verdicts)
    red = [result for result in seen if is_red(result.outcome, result.dispositions)]
    ran = [result for result in red if result.outcome is not Outcome.NOT_RUN]
    told = [*kinds(ran, paint)]
    if told:
        told.insert(0, "what is wrong, most frequent first:")
    if folder is not None:
        told += [*_replays(ran, folder, plugin), *_quality(results, folder)]
        if not results.complete:
            told.append("next: the run did not come to its end; the same command with --resume goes on from there")
    told += [*_without_tool(seen), *_unsupported(seen, plugin)]
    if not red and not results.conformant and results.selection.deselected and not results.exit_code:
        told.append(f"next: for a verdict on all of it: npu-conformance run {plugin}")
    return [*told, *([f"report: {folder} ({FILES})"] if folder is not None else [])]


def kinds(red: Sequence[CaseResult], paint: Paint = plain) -> Iterator[str]:
    """A line for each of the most frequent ways to be wrong: how many cases, what they say, what is guilty."""
    found: dict[tuple[str, str], _Kind] = {}
    for result in red:
        text = _PARTICULARS.split(_CONFIGURATION.sub("", first_reason(result)), maxsplit=1)[0]
        outcome = result.outcome.value
        kind = found.setdefault((outcome, _NUMBER.sub("0", text)), _Kind(outcome, text))
        kind.count += 1
        kind.guilty[result.operations[0] if len(result.operations) == 1 else guilty(result)] += 1
    ordered = sorted(found.values(), key=lambda kind: -kind.count)
    for kind in ordered[:_GROUPS]:
        names = [name for name, _ in kind.guilty.most_common(_NAMED)]
        more = f" and {len(kind.guilty) - _NAMED} more" if len(kind.guilty) > _NAMED else ""
        yield f"  {kind.count:>5} {paint(kind.outcome, kind.outcome)}: {kind.text} ({', '.join(names)}{more})"
    if len(ordered) > _GROUPS:
        yield f"  {sum(kind.count for kind in ordered[_GROUPS:]):>5} others"


def _replays(red: Sequence[CaseResult], folder: Path, plugin: str) -> Iterator[str]:
    """One command for each of the first failures that differ in what is guilty."""
    first: dict[str, str] = {}
    for result in red:
        name = str(result.notes.get(FAILURE_FILE, ""))
        if name.endswith(".json"):
            first.setdefault(guilty(result), name)
    if first:
        yield "run the first failures again:"
    for name in list(first.values())[:_REPLAYS]:
        yield f"  npu-conformance replay {shlex.quote(str(folder / 'failures' / name))} {plugin}"
    if red:
        yield f"explain all of them: npu-conformance report {shlex.quote(str(folder))} --failures"


def _quality(results: Results, folder: Path) -> Iterator[str]:
    if results.quality_warnings:
        count = results.quality_warnings
        yield f"{count} cases with a quality warning: npu-conformance report {shlex.quote(str(folder))} --warnings"


def _without_tool(verdicts: Sequence[CaseResult]) -> Iterator[str]:
    count = sum(result.message == IGNORED for result in verdicts)
    if count:
        yield f"{count} cases do not apply: {IGNORED}"


def _unsupported(verdicts: Sequence[CaseResult], plugin: str) -> Iterator[str]:
    """A device that refuses every operation has to begin somewhere."""
    asked = [result for result in verdicts if result.operations and result.outcome is not Outcome.NOT_APPLICABLE]
    refused = [result for result in asked if result.outcome is Outcome.NOT_SUPPORTED]
    executed = any(result.outcome is Outcome.PASS and result.group == "execution" for result in asked)
    if refused and not executed:
        operations = sorted({name for result in refused for name in result.operations})
        simple = "RELU" if "RELU" in operations else operations[0]
        yield (
            f"next: nothing is executed: {len(refused)} cases are not supported. Let getSupportedOperations accept one "
            f"operation, {simple} say, then: npu-conformance run vts.generated.{simple} {plugin}"
        )
