"""What a run measured, in small tables: latency and accuracy of each model, and how clients of crash tests ended.

The page has the whole of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from npu_conformance.harness.report.crash_words import WORDS, is_crash_test
from npu_conformance.specs.documents.results import CaseResult, Measurement

Figures = Mapping[str, Measurement]
"""Measurements of one model on one implementation, by name."""

_LATENCY = ("inference", "first_inference", "prepare", "prepare_from_cache")
_ACCURACY = ("top_1", "agreement", "cosine", "phone_error_rate", "snr_gain", "largest_error")


def lines(verdicts: Iterable[CaseResult]) -> list[str]:
    """The tables; nothing where nothing was measured.

    Beside the first column of each is the other implementation's; of times also how many times as long they are.
    """
    seen = list(verdicts)
    measured = [one for result in seen for one in result.measurements]
    latency, accuracy = _table("median in ms", _LATENCY, measured), _table("accuracy", _ACCURACY, measured)
    return [*latency, *accuracy, *_crash_tests(seen)]


def _crash_tests(verdicts: Sequence[CaseResult]) -> Iterator[str]:
    """How the clients of all crash tests ended."""
    tests = [result for result in verdicts if is_crash_test(result) and result.configurations]
    if tests:
        ends = [part.outcome for result in tests for part in result.configurations]
        told = ", ".join(f"{ends.count(outcome)} {word}" for word, outcome in WORDS.items())
        yield f"crash tests: {len(tests)}; their clients and checks ended in {told}"


def by_subject(measured: Iterable[Measurement], beside: str) -> Mapping[str, Figures]:
    """Measurements of one implementation by model and name. beside: empty for the one under test."""
    found: dict[str, dict[str, Measurement]] = {}
    for one in measured:
        if one.beside == beside:
            found.setdefault(one.subject, {})[one.name] = one
    return found


def _table(title: str, names: Sequence[str], measured: Sequence[Measurement]) -> Iterator[str]:
    columns = [name for name in names if any(one.name == name for one in measured)]
    if not columns:
        return
    first, *others = columns
    other = next((one.beside for one in measured if one.beside), "")
    beside = by_subject(measured, other) if other else {}
    with_ratio = bool(other) and first in _LATENCY
    rows = [[title, first, *([other] if other else []), *(["ratio"] if with_ratio else []), *others]]
    for model, figures in by_subject(measured, "").items():
        if figures.keys() & columns:
            own, theirs = figures.get(first), beside.get(model, {}).get(first)
            cells = [
                _number(own),
                *([_number(theirs)] if other else []),
                *([_ratio(own, theirs)] if with_ratio else []),
            ]
            rows.append([model, *cells, *(_number(figures.get(name)) for name in others)])
    yield from _aligned(rows)


def _ratio(own: Measurement | None, theirs: Measurement | None) -> str:
    """How many times as long the one under test takes."""
    return "-" if own is None or theirs is None or not theirs.value else f"{own.value / theirs.value:.2g}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns as wide as their widest cell, the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *cells])


def _number(found: Measurement | None) -> str:
    return "-" if found is None else f"{found.value:.3g}"
