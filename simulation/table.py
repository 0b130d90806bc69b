"""The report as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npu_conformance.simulation.report import GroupReport, PolicyReport, Report, Waits


def lines(report: Report) -> list[str]:
    """All policies, one after the other."""
    head = f"{report.apps} apps, {report.duration_ms / 1000:g} s, seed {report.seed}"
    return [head, "", *_summary(report), *(line for policy in report.policies for line in _policy(policy))]


def _summary(report: Report) -> list[str]:
    """All requests together, a line for each policy."""
    heads = ("policy", "granted", "p50 s", "p95 s", "p99 s", "longest s", "waiting", "paused", "devices", "budget")
    return _table(heads, map(_summary_row, report.policies), indent="  ")


def _summary_row(report: PolicyReport) -> tuple[str, ...]:
    curve = report.wait_curve
    waits = [_seconds(curve[percent]) if curve else "-" for percent in (50, 95, 99, 100)]
    counts = [
        sum(column) for column in zip(*((g.grants, g.waiting, g.preemptions) for g in report.groups), strict=True)
    ]
    granted, waiting, paused = map(str, counts)
    used = "-" if report.budget_used is None else _percent(report.budget_used)
    return report.policy, granted, *waits, waiting, paused, _percent(report.device_used), used


def _policy(report: PolicyReport) -> list[str]:
    return [
        "",
        f"policy {report.policy}: {report.events} events, {report.decisions} decisions, "
        f"{report.work_events} starts and ends of work",
        "",
        "  waiting for a grant, s",
        *_table(("group", "importance", "granted", "p50", "p95", "p99", "longest"), map(_wait_row, report.waits)),
        "",
        "  requests",
        *_table(
            ("group", "apps", "requests", "granted", "parked", "queued", "never", "waiting", "longest s", "starved"),
            map(_request_row, report.groups),
        ),
        "",
        "  unloads, work and fairness",
        *_table(
            ("group", "asked", "answered", "ignored", "inferences", "device s", "paused", "fairness"),
            map(_work_row, report.groups),
        ),
    ]


def _wait_row(waits: Waits) -> tuple[str, ...]:
    times = (waits.p50_ms, waits.p95_ms, waits.p99_ms, waits.max_ms)
    return waits.group, waits.band, str(waits.served), *map(_seconds, times)


def _request_row(group: GroupReport) -> tuple[str, ...]:
    counts = (group.apps, group.requests, group.grants, group.parks, group.queued, group.never_served, group.waiting)
    return group.group, *map(str, counts), _seconds(group.longest_waiting_ms), str(group.starved_apps)


def _work_row(group: GroupReport) -> tuple[str, ...]:
    unloads = (group.unloads_asked, group.unloads_answered, group.unloads_ignored, group.inferences)
    fairness = "-" if group.fairness is None else f"{group.fairness:.3f}"
    return group.group, *map(str, unloads), _seconds(group.device_ms), str(group.preemptions), fairness


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], indent: str = "    ") -> list[str]:
    """Columns as wide as need be; the first is aligned left, numbers right."""
    cells = [heads, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    return [indent + "  ".join(map(_aligned, row, widths, range(len(row)))) for row in cells]


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.rjust(width) if column else cell.ljust(width)


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
