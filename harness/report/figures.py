"""What a run measured, in two small tables: latency and accuracy of each model; the page has the whole of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from npu_conformance.specs.documents.results import CaseResult, Measurement

Figures = Mapping[str, Measurement]
"""Measurements of one model on one implementation, by name."""

_LATENCY = ("inference", "first_inference", "prepare", "prepare_from_cache")
_ACCURACY = ("top_1", "agreement", "cosine", "phone_error_rate", "snr_gain", "largest_error")


def lines(verdicts: Iterable[CaseResult]) -> list[str]:
    """The tables; nothing where nothing was measured. Beside the first column of each is the other implementation's."""
    measured = [one for result in verdicts for one in result.measurements]
    return [*_table("median in ms", _LATENCY, measured), *_table("accuracy", _ACCURACY, measured)]


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
    rows = [[title, first, *([other] if other else []), *others]]
    for model, figures in by_subject(measured, "").items():
        if figures.keys() & columns:
            theirs = [_number(beside.get(model, {}).get(first))] if other else []
            rows.append([model, _number(figures.get(first)), *theirs, *(_number(figures.get(name)) for name in others)])
    yield from _aligned(rows)


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns as wide as their widest cell, the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *cells])


def _number(found: Measurement | None) -> str:
    return "-" if found is None else f"{found.value:.3g}"
