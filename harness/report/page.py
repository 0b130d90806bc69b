"""The HTML page of a run: one file, no network, works from a mail attachment."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files

from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.harness.report.lines import explain, first_reason, guilty, warnings
from npu_conformance.harness.report.operations_matrix import matrix
from npu_conformance.harness.report.summary import kinds
from npu_conformance.specs.documents.results import FAILURE_FILE, CaseResult
from npu_conformance.specs.documents.summary import Results
from npu_conformance.specs.outcomes import Disposition, Outcome

_ORDER = (
    Outcome.SUITE_ERROR, Outcome.CRASH, Outcome.HANG, Outcome.FAIL,
    Outcome.NOT_RUN, Outcome.NOT_SUPPORTED, Outcome.PASS, Outcome.NOT_APPLICABLE,
)  # fmt: skip
_SHOWN, _EXPLAINED = 20, 500
"""Red cases that are seen at once, and that are explained at all: those behind them are in the table of cases."""


def document(results: Results, verdicts: Iterable[CaseResult], plugin_words: str) -> str:
    """The page. plugin_words: the options that name the plug-in, for the commands that replay failures."""
    ordered = sorted(verdicts, key=lambda result: (_ORDER.index(result.outcome), result.case))
    sections = (_head(results), _counts(results), _failures(ordered, plugin_words), matrix(results), _cases(ordered))
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
        f"{results.quality_warnings} cases have a quality warning." if results.quality_warnings else "",
    ):
        yield f"<p>{escape(line)}</p>" if line else ""


def _count(outcome: str, count: int) -> str:
    return f'<td class="number {outcome if count else "none"}">{count:,}</td>'


def _failures(ordered: Sequence[CaseResult], plugin_words: str) -> Iterator[str]:
    red = [result for result in ordered if is_red(result.outcome, result.dispositions)]
    told = [result for result in red if result.outcome is not Outcome.NOT_RUN]
    if not told:
        return
    yield f"<h2>What is wrong <small>{len(told):,} cases</small></h2>"
    if len(told) > _SHOWN:
        yield "<p>Most frequent first:</p><ul>" + "".join(f"<li>{escape(line)}</li>" for line in kinds(told)) + "</ul>"
    yield from (_failure(result, plugin_words) for result in told[:_SHOWN])
    if told[_SHOWN:]:
        yield f"<details><summary>{len(told) - _SHOWN:,} more</summary>"
        yield from (_failure(result, plugin_words) for result in told[_SHOWN:_EXPLAINED])
        yield "</details>"
    if len(told) > _EXPLAINED:
        yield f"<p>{len(told) - _EXPLAINED:,} more are in the table of cases.</p>"


def _failure(result: CaseResult, plugin_words: str) -> str:
    outcome = result.outcome.value
    lines = [explain(result).partition("\n")[2]]
    name = str(result.notes.get(FAILURE_FILE, ""))
    if name.endswith(".json"):
        lines.append(f"$ npu-conformance replay {shlex.quote(f'failures/{name}')} {plugin_words}")
    reason, guilt = escape(first_reason(result)), escape(guilty(result))
    return (
        f'<details class="failure"><summary><b class="badge {outcome}">{outcome}</b> <b>{guilt}</b> '
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
    waived = " waived" if Disposition.WAIVED in result.dispositions else ""
    warned = warnings(result)
    detail = "" if result.outcome is Outcome.PASS else f"<p>{escape(first_reason(result))}</p>"
    if warned:
        told = escape("\n".join(warned))
        detail += f"<details><summary>{len(warned)} quality warnings</summary><pre>{told}</pre></details>"
    requirements = " ".join(str(numbers[name]) for name in result.requirements)
    return (
        f'<tr data-r="{requirements}"><td class={outcome}>{outcome}{waived}{" &#9888;" if warned else ""}'
        f"<td>{escape(result.case)}{detail}"
    )
