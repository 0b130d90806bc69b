"""The waivers of the run: who owns each, until when it holds, and whether it was needed."""

from __future__ import annotations

from npu_conformance.harness.report.shown_run import Section, ShownRun
from npu_conformance.harness.report.templating import render


def section(run: ShownRun) -> Section | None:
    """The table; None where the run had no waivers."""
    uses = run.results.waivers
    if not uses:
        return None
    body = render("waivers.html", uses=sorted(uses, key=lambda use: (not use.problem, use.waiver.expires)))
    wrong = sum(bool(use.problem) for use in uses)
    return Section("waivers", "Waivers", f"{len(uses)}, {wrong} of them to be fixed", body)
