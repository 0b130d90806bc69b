"""The verdict table at the end of a run: counts by suite, what is not covered, and what it comes to."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.summary_documents import Results

_REASONS = 12


def lines(results: Results) -> list[str]:
    """The table and the conclusion, line by line."""
    return [*_table(results), *_coverage(results), *_conclusion(results)]


def _table(results: Results) -> Iterator[str]:
    outcomes = [outcome.value for outcome in Outcome if outcome.value in results.counts]
    rows = [(suite, [counts.get(name, 0) for name in outcomes]) for suite, counts in results.by_suite.items()]
    rows.append(("all", [results.counts.get(name, 0) for name in outcomes]))
    width = max((len(suite) for suite, _ in rows), default=0)
    yield " ".join([" " * width, *(f"{name:>14}" for name in outcomes)])
    for suite, counts in rows if len(rows) > 2 else rows[-1:]:
        yield " ".join([f"{suite:<{width}}", *(f"{count:>14}" for count in counts)])
    parts = ", ".join(f"{count} {name}" for name, count in results.configuration_counts.items())
    if parts:
        yield f"configurations and mutations: {parts}"
    for number, what in ((results.waived, "waived"), (results.quality_warnings, "with a quality warning")):
        if number:
            yield f"{number} cases {what}"


def _coverage(results: Results) -> Iterator[str]:
    yield from (f"coverage: {line}" for line in results.thin_coverage)
    for entry in results.left_out[:1]:
        yield f"left out: {len(results.left_out)} cases ({entry.reason})"
    yield from (f"red: {line}" for line in results.red)
    yield from (f"suite problem: {line}" for line in results.problems)


def _conclusion(results: Results) -> Iterator[str]:
    name = f"{results.manifest.name} {results.manifest.version} (HAL {results.hal_version})"
    if results.conformant:
        yield f"{name}: conformant"
        return
    yield f"{name}: not shown to be conformant:"
    yield from (f"  {reason}" for reason in results.reasons[:_REASONS])
    if len(results.reasons) > _REASONS:
        yield f"  ... and {len(results.reasons) - _REASONS} more reasons"
