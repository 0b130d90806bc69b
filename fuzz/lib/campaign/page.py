"""The page of a campaign: what was found, what each fuzzer did, and how features grew with the time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from npu_conformance.fuzz.lib.campaign.documents import Finding, RoundLine, Settings
from npu_conformance.fuzz.lib.findings import KINDS
from npu_conformance.harness.report.shown_run import Section
from npu_conformance.harness.report.templating import page, render
from npu_conformance.specs.diagnostics.counted import counted

_LEFT, _RIGHT, _TOP, _BOTTOM = 60.0, 620.0, 12.0, 180.0
"""Where the plot lies in the picture."""


@dataclass(frozen=True)
class FuzzerRow:
    """What one fuzzer did. last_new: seconds of the campaign at which an input showed something new; None for never.

    inapplicable: why it cannot attack the plug-in; empty where it can.
    """

    name: str
    rounds: int
    executions: int
    per_second: float
    corpus: int
    features: int
    findings: int
    last_new: float | None
    lost: int
    inapplicable: str


@dataclass(frozen=True)
class Curve:
    """The features of one fuzzer over time, as a path of the picture. series: the number of its colour."""

    name: str
    series: int
    path: str


def document(settings: Settings, rounds: Sequence[RoundLine], findings: Sequence[Finding], suite_version: str) -> str:
    """Return the page."""
    head = render("campaign_head.html", **_summary(settings, rounds, findings))
    return page(f"{settings.plugin}: fuzzing", head, _parts(rounds, findings), suite_version)


def section(settings: Settings, rounds: Sequence[RoundLine], findings: Sequence[Finding]) -> Section:
    """Return all of a campaign as one section of a run's page."""
    summary, parts = _summary(settings, rounds, findings), _parts(rounds, findings)
    body = render("campaign_section.html", parts=parts, **summary)
    return Section("fuzzing", "Fuzzing", counted(len(findings), "finding"), body)


def _summary(settings: Settings, rounds: Sequence[RoundLine], findings: Sequence[Finding]) -> dict[str, object]:
    seconds = max((line.at for line in rounds), default=0.0)
    return {"settings": settings, "rows": _rows(rounds), "findings": findings, "seconds": seconds}


def _parts(rounds: Sequence[RoundLine], findings: Sequence[Finding]) -> list[Section]:
    names = list(dict.fromkeys(line.fuzzer for line in rounds if not line.inapplicable))
    found = [_findings(rounds, findings)] if findings else []
    return [*found, *([_fuzzers(_rows(rounds)), _over_time(rounds, names, findings)] if rounds else [])]


def _rows(rounds: Sequence[RoundLine]) -> list[FuzzerRow]:
    names = dict.fromkeys(line.fuzzer for line in rounds)
    return [_row(name, [line for line in rounds if line.fuzzer == name]) for name in names]


def _findings(rounds: Sequence[RoundLine], findings: Sequence[Finding]) -> Section:
    repeats = Counter[str]()
    for line in rounds:
        repeats.update(line.repeats)
    ordered = sorted(findings, key=lambda found: (KINDS.index(found.kind), found.where))
    body = render("campaign_findings.html", findings=ordered, repeats=repeats)
    return Section("findings", "Findings", counted(len(findings), "finding"), body)


def _fuzzers(rows: Sequence[FuzzerRow]) -> Section:
    return Section("fuzzers", "Fuzzers", counted(len(rows), "fuzzer"), render("campaign_fuzzers.html", rows=rows))


def _row(name: str, lines: Sequence[RoundLine]) -> FuzzerRow:
    executions, seconds = sum(line.executions for line in lines), sum(line.seconds for line in lines)
    return FuzzerRow(
        name=name,
        rounds=len(lines),
        executions=executions,
        per_second=executions / seconds if seconds else 0.0,
        corpus=lines[-1].corpus,
        features=lines[-1].features,
        findings=sum(len(line.findings) for line in lines),
        last_new=max((line.at for line in lines if line.inputs), default=None),
        lost=sum(bool(line.lost) for line in lines),
        inapplicable=next((line.inapplicable for line in lines if line.inapplicable), ""),
    )


def _over_time(rounds: Sequence[RoundLine], names: Sequence[str], findings: Sequence[Finding]) -> Section:
    """The features of each fuzzer that can attack, as a share of its own in the end: there is no common measure."""
    last = max(line.at for line in rounds) or 1.0
    curves = [
        _curve(name, number, [line for line in rounds if line.fuzzer == name], last)
        for number, name in enumerate(names)
    ]
    found = [(_x(min(one.at, last), last), one.where) for one in findings]
    ticks = [(_x(last * part / 4, last), round(last * part / 4)) for part in range(5)]
    place = {"left": _LEFT, "right": _RIGHT, "top": _TOP, "bottom": _BOTTOM}
    body = render("campaign_over_time.html", curves=curves, found=found, ticks=ticks, **place)
    return Section("over-time", "Over time", "what was seen for the first time, and when", body)


def _curve(name: str, number: int, lines: Sequence[RoundLine], last: float) -> Curve:
    most = max(line.features for line in lines) or 1
    heights = ((line.at, round(_BOTTOM - (_BOTTOM - _TOP) * line.features / most, 1)) for line in lines)
    steps = "".join(f"H{_x(at, last)}V{height}" for at, height in heights)
    return Curve(name, number, f"M{_LEFT} {_BOTTOM}{steps}H{_RIGHT}")


def _x(seconds: float, last: float) -> float:
    return round(_LEFT + (_RIGHT - _LEFT) * seconds / last, 1)
