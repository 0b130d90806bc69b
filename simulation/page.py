"""The report as one HTML page with plots; it needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from npu_conformance.simulation import table
from npu_conformance.simulation.plots import Axis, Series, bars, lines
from npu_conformance.simulation.report import PolicyReport, Report

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222 }
svg { display: block; margin: 0 0 2em; max-width: 100%; height: auto }
svg text { font: 12px system-ui, sans-serif; fill: #222 }
pre { font: 12px/1.4 ui-monospace, monospace; overflow-x: auto; background: #f6f6f6; padding: 1em }
:root { color-scheme: light dark }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #16181c }
  svg text { fill: #ddd }
  svg .grid { stroke: #3a3d44 }
  svg .tick { stroke: #ddd }
  pre { background: #22252b }
}
"""


def page(report: Report) -> str:
    """Plots of all policies, and the tables."""
    title = f"NPU simulation: {report.apps} apps, {report.duration_ms / 1000:g} s, seed {report.seed}"
    plots = (
        ("Waiting time of granted requests", _waits(report)),
        ("95th percentile of the waiting time, by group and importance at the request", _percentiles(report)),
        ("Requests without a grant", _queue(report)),
        ("Budget in use", _budget(report)),
        ("Fairness among the apps of a group", _fairness(report)),
    )
    parts = [f"<h2>{escape(name)}</h2>\n{plot}" for name, plot in plots]
    text = escape("\n".join(table.lines(report)))
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n<h1>{escape(title)}</h1>\n"
        + "\n".join(parts)
        + f"\n<h2>Tables</h2>\n<pre>{text}</pre>\n</html>\n"
    )


def _waits(report: Report) -> str:
    series = [
        Series(
            policy.policy, [(milliseconds / 1000, percent) for percent, milliseconds in enumerate(policy.wait_curve)]
        )
        for policy in report.policies
    ]
    return lines(
        series,
        Axis("waiting time, s (logarithmic; what is shorter than 1 ms is drawn as 1 ms)", 0.001),
        Axis("granted requests that waited no longer, %"),
    )


def _queue(report: Report) -> str:
    return lines(
        [_over_time(policy, [sample.waiting for sample in policy.samples]) for policy in report.policies],
        Axis("simulated time, s"),
        Axis("requests"),
    )


def _budget(report: Report) -> str:
    if all(policy.budget_used is None for policy in report.policies):
        return "<p>No policy of this simulation has a budget.</p>"
    series = [_over_time(policy, _used(policy)) for policy in report.policies]
    return lines(series, Axis("simulated time, s"), Axis("used, % of the highest ceiling"))


def _used(policy: PolicyReport) -> list[float]:
    most = max(sample.ceiling for sample in policy.samples)
    return [100 * sample.used / most for sample in policy.samples if most]


def _over_time(policy: PolicyReport, values: Sequence[float]) -> Series:
    times = (sample.time_ms / 1000 for sample in policy.samples)
    return Series(policy.policy, list(zip(times, values, strict=False)), is_stepped=True)


def _percentiles(report: Report) -> str:
    values = {
        policy.policy: {f"{wait.group}, {wait.band}": wait.p95_ms / 1000 for wait in policy.waits}
        for policy in report.policies
    }
    return bars(values, "waiting time, s")


def _fairness(report: Report) -> str:
    values = {
        policy.policy: {group.group: group.fairness for group in policy.groups if group.fairness is not None}
        for policy in report.policies
    }
    return bars(values, "Jain's index (1: all alike)")
