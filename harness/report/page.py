"""The HTML page of a run: one file, no network, works from a mail attachment."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files

from npu_conformance.harness.report import symptoms
from npu_conformance.harness.report.lines import ReplayCommands, attribution, details, excuse, first_reason, warnings
from npu_conformance.harness.report.operations_matrix import matrix
from npu_conformance.harness.report.summary import red_that_ran
from npu_conformance.harness.report.symptoms import Symptom
from npu_conformance.harness.report.table import against
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.documents.summary import Results
from npu_conformance.specs.outcomes import Outcome

_ORDER = (
    Outcome.SUITE_ERROR, Outcome.CRASH, Outcome.HANG, Outcome.FAIL,
    Outcome.NOT_RUN, Outcome.NOT_SUPPORTED, Outcome.PASS, Outcome.NOT_APPLICABLE,
)  # fmt: skip
_SHOWN, _EXPLAINED = 3, 500
"""How many cases of a symptom are unfolded, and how many cases are explained; the others are in the table."""


def document(results: Results, verdicts: Iterable[CaseResult], replays: ReplayCommands) -> str:
    """Return the page. replays: makes the commands that run failures again, from the folder of the report."""
    ordered = sorted(verdicts, key=lambda result: (_ORDER.index(result.outcome), result.case))
    sections = (_head(results), _counts(results), _failures(ordered, replays), matrix(results), _cases(ordered))
    body = "\n".join(line for section in sections for line in section)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(results.manifest.name)}: NPU conformance</title>\n"
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{_text("page.css")}</style>'
        f"</head>\n<body>\n{body}\n<script>{_text('page.js')}</script></body></html>\n"
    )


def _text(name: str) -> str:
    return (files("npu_conformance.harness.report") / name).read_text()


def _head(results: Results) -> Iterator[str]:
    manifest = results.manifest
    yield f"<h1>{escape(manifest.name)} <small>{escape(manifest.version)}, {escape(manifest.vendor)}</small></h1>"
    word = "conformant" if results.conformant else "not shown to be conformant"
    kind = "pass" if results.conformant else "fail" if results.exit_code else "not-supported"
    yield f'<p class="verdict {kind}">{word}</p>'
    yield (
        f"<p class=facts>HAL {escape(results.hal_version)}, {escape(results.time)}, {results.seconds:.1f} s of cases, "
        f"npu-conformance {escape(results.suite_version)}, seed {results.seed}, scope {results.selection.scope}</p>"
    )
    remarks = (*results.reasons, *results.thin_coverage)
    if remarks:
        yield "<ul class=reasons>" + "".join(f"<li>{escape(remark)}</li>" for remark in remarks) + "</ul>"


def _counts(results: Results) -> Iterator[str]:
    outcomes = [outcome.value for outcome in Outcome if outcome.value in results.counts]
    yield "<h2>Verdicts</h2><div class=scroll><table class=counts>"
    yield "<tr><th>suite</th>" + "".join(f"<th>{name}</th>" for name in outcomes) + "</tr>"
    for suite, counts in [*results.by_suite.items(), ("all", results.counts)]:
        cells = "".join(_count(name, counts.get(name, 0)) for name in outcomes)
        yield f"<tr><td>{escape(suite)}</td>{cells}</tr>"
    yield "</table></div>"
    parts = ", ".join(f"{count:,} {name}" for name, count in results.configuration_counts.items())
    for line in (
        f"Configurations and mutations of the cases: {parts}." if parts else "",
        f"{results.waived} cases are waived." if results.waived else "",
        f"Beside the baseline: {against(results.baseline)}." if results.baseline else "",
        f"{results.quality_warnings} cases have a quality warning." if results.quality_warnings else "",
    ):
        yield f"<p>{escape(line)}</p>" if line else ""


def _count(outcome: str, count: int) -> str:
    return f'<td class="number {outcome if count else "none"}">{count:,}</td>'


def _failures(ordered: Sequence[CaseResult], replays: ReplayCommands) -> Iterator[str]:
    """The symptoms in a list, then the first cases of each; those of the gravest outcome come first."""
    found = symptoms.grouped(red_that_ran(ordered))
    count = sum(len(symptom.cases) for symptom in found)
    if not found:
        return
    yield f"<h2>What is wrong <small>{count:,} cases</small></h2>"
    if count > 1:
        yield "<p>Most frequent first:</p><ul class=symptoms>"
        yield from (f"<li>{escape(line)}</li>" for line in symptoms.lines(found) if line.startswith(" "))
        yield "</ul>"
    explained = 0
    for symptom in sorted(found, key=lambda symptom: _ORDER.index(Outcome(symptom.outcome))):
        yield from _symptom(symptom, replays, _EXPLAINED - explained)
        explained += len(symptom.cases)
    if count > _EXPLAINED:
        yield f"<p>{count - _EXPLAINED:,} more are in the table of cases.</p>"


def _symptom(symptom: Symptom, replays: ReplayCommands, most: int) -> Iterator[str]:
    """The first cases of a symptom, the very first one unfolded; the others behind a fold."""
    first, others = symptom.cases[: min(_SHOWN, max(most, 0))], symptom.cases[_SHOWN : max(most, 0)]
    yield from (_failure(result, replays, "" if number else " open") for number, result in enumerate(first))
    if others:
        yield f"<details class=others><summary>{len(others):,} more of the same</summary>"
        yield from (_failure(result, replays) for result in others)
        yield "</details>"


def _failure(result: CaseResult, replays: ReplayCommands, folded: str = "") -> str:
    outcome = result.outcome.value
    replay = replays.of(result)
    lines = details(result, f"$ {replay}" if replay else "")
    reason, source = escape(first_reason(result)), escape(attribution(result))
    return (
        f'<details class="failure"{folded}><summary><b class="badge {outcome}">{outcome}</b> <b>{source}</b> '
        f"{escape(result.case)}<br><span>{reason}</span></summary><pre>{escape(chr(10).join(lines))}</pre></details>"
    )


def _cases(verdicts: Sequence[CaseResult]) -> Iterator[str]:
    names = list(dict.fromkeys(name for result in verdicts for name in result.requirements))
    numbers = {name: number for number, name in enumerate(names)}
    yield '<h2>Cases <small id="shown"></small></h2><p><input id="filter" type="search" aria-label="filter cases"'
    yield ' placeholder="filter: words of an id, an outcome, a requirement"></p><table id="cases">'
    yield from (_case(result, numbers) for result in verdicts)
    yield "</table>"
    stored = json.dumps([name.lower() for name in names]).replace("<", "\\u003c")
    yield f'<script type="application/json" id="requirements">{stored}</script>'


def _case(result: CaseResult, numbers: dict[str, int]) -> str:
    outcome = result.outcome.value
    words = " ".join(filter(None, (outcome, excuse(result))))
    warned = warnings(result)
    detail = "" if result.outcome is Outcome.PASS else f"<p>{escape(first_reason(result))}</p>"
    if warned:
        told = escape("\n".join(warned))
        detail += f"<details><summary>{len(warned)} quality warnings</summary><pre>{told}</pre></details>"
    requirements = " ".join(str(numbers[name]) for name in result.requirements)
    return (
        f'<tr data-r="{requirements}"><td class={outcome}>{words}{" &#9888;" if warned else ""}'
        f"<td>{escape(result.case)}{detail}"
    )
