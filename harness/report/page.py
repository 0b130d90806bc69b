"""The HTML page of a run: one file, no network, works from a mail attachment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from importlib.resources import files

from npu_conformance.harness.report.lines import explain, first_reason
from npu_conformance.specs.outcomes import Disposition, Outcome
from npu_conformance.specs.results import CaseResult
from npu_conformance.specs.summary_documents import Results

_ORDER = (
    Outcome.SUITE_ERROR, Outcome.CRASH, Outcome.HANG, Outcome.FAIL,
    Outcome.NOT_RUN, Outcome.NOT_SUPPORTED, Outcome.PASS, Outcome.NOT_APPLICABLE,
)  # fmt: skip


def document(results: Results, verdicts: Iterable[CaseResult]) -> str:
    """The page."""
    style = (files("npu_conformance.harness.report") / "page.css").read_text()
    script = (files("npu_conformance.harness.report") / "page.js").read_text()
    ordered = sorted(verdicts, key=lambda result: (_ORDER.index(result.outcome), result.case))
    body = "\n".join([*_head(results), *_counts(results), *_operations(results), *_cases(ordered)])
    title = f"{escape(results.manifest.name)}: NPU conformance"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{style}</style></head>\n'
        f"<body>\n{body}\n<script>{script}</script></body></html>\n"
    )


def _head(results: Results) -> Iterator[str]:
    manifest = results.manifest
    yield f"<h1>{escape(manifest.name)} <small>{escape(manifest.version)}, {escape(manifest.vendor)}</small></h1>"
    word, kind = ("conformant", "pass") if results.conformant else ("not shown to be conformant", "fail")
    yield f'<p class="verdict {kind}">{word}</p>'
    yield f"<p>HAL {escape(results.hal_version)}, {escape(results.time)}, {results.seconds:.1f} s of cases, "
    yield f"suite {escape(results.suite_version)}, seed {results.seed}</p>"
    remarks = (*results.reasons, *results.thin_coverage)
    if remarks:
        yield "<ul>" + "".join(f"<li>{escape(remark)}</li>" for remark in remarks) + "</ul>"


def _counts(results: Results) -> Iterator[str]:
    outcomes = [outcome.value for outcome in Outcome if outcome.value in results.counts]
    yield "<h2>Verdicts</h2><table><tr><th>suite</th>" + "".join(f"<th>{name}</th>" for name in outcomes) + "</tr>"
    for suite, counts in [*results.by_suite.items(), ("all", results.counts)]:
        cells = "".join(_count(name, counts.get(name, 0)) for name in outcomes)
        yield f"<tr><td>{escape(suite)}</td>{cells}</tr>"
    yield "</table>"


def _count(outcome: str, count: int) -> str:
    return f'<td class="number {outcome if count else "none"}">{count}</td>'


def _operations(results: Results) -> Iterator[str]:
    if not results.by_operation:
        return
    yield "<details><summary>Operations and types</summary><table>"
    yield "<tr><th>operation</th><th>type</th><th>verdicts</th></tr>"
    for entry in results.by_operation:
        counts = " ".join(f'<span class="{name}">{count} {name}</span>' for name, count in entry.counts.items())
        yield f"<tr><td>{escape(entry.operation)}</td><td>{escape(entry.type)}</td><td>{counts}</td></tr>"
    yield "</table></details>"


def _cases(verdicts: list[CaseResult]) -> Iterator[str]:
    yield '<h2>Cases</h2><p><input id="filter" type="search" placeholder="filter by id, outcome or requirement"'
    yield ' aria-label="filter cases"> <span id="shown"></span></p><table id="cases">'
    yield "<tr><th>outcome</th><th>case</th><th>what</th></tr>"
    for result in verdicts:
        yield _case(result)
    yield "</table>"


def _case(result: CaseResult) -> str:
    waived = " waived" if Disposition.WAIVED in result.dispositions else ""
    warned = " &#9888;" if Disposition.QUALITY_WARNING in result.dispositions else ""
    words = escape(" ".join((result.case, result.outcome.value, *result.requirements)).lower(), quote=True)
    detail = escape(first_reason(result))
    if result.outcome not in (Outcome.PASS, Outcome.NOT_APPLICABLE):
        detail = f"<details><summary>{detail or 'details'}</summary><pre>{escape(explain(result))}</pre></details>"
    elif result.warnings or warned:
        detail = f"<details><summary>quality</summary><pre>{escape(_warnings(result))}</pre></details>"
    return (
        f'<tr data-words="{words}"><td class="{result.outcome.value}">{result.outcome.value}{waived}{warned}</td>'
        f"<td>{escape(result.case)}</td><td>{detail}</td></tr>"
    )


def _warnings(result: CaseResult) -> str:
    parts = (f"#{part.name}: {warning}" for part in result.configurations for warning in part.warnings)
    return "\n".join([*result.warnings, *parts])
