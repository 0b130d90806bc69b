"""The verdict table at the end of a run: counts by suite, what is not covered, and the conclusion."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.harness.report.console import Paint, plain
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.documents.summary import LISTED, Comparison, Results
from npu_conformance.specs.documents.waivers import WaiverUse
from npu_conformance.specs.outcomes import Outcome

_REASONS = 12
_LISTED = 20
"""How many regressions and problems of waivers have a line."""
_GROUP = re.compile(r"no case of the mandatory group ([\w-]+) was run")
_OPERATIONS = 8
"""How many operations a line names; the report names all."""
_LEFT = 3
"""How many requirements a line names of what waivers leave red."""


def lines(results: Results, paint: Paint = plain) -> list[str]:
    """The table and the conclusion, line by line. What is in results of somebody else's is shown, and no more."""
    return [*_table(results, paint), *_coverage(results), *_work(results), *_conclusion(results, paint)]


def _table(results: Results, paint: Paint) -> Iterator[str]:
    outcomes = [outcome.value for outcome in Outcome if outcome.value in results.counts]
    rows = [*((one_line(suite), counts) for suite, counts in results.by_suite.items()), ("all", results.counts)]
    width = max(len(suite) for suite, _ in rows)
    yield "  ".join([" " * width, *(f"{name:>6}" for name in outcomes)])
    excused = not results.exit_code  # what looks red is waived or known
    for suite, counts in rows if len(rows) > 2 else rows[-1:]:
        cells = (_cell(name, counts.get(name, 0), paint, excused=excused) for name in outcomes)
        yield "  ".join([f"{suite:<{width}}", *cells])
    parts = one_line(", ".join(f"{count:,} {name}" for name, count in results.configuration_counts.items()))
    if parts:
        yield f"configurations and mutations: {parts}"
    if results.waived:
        yield f"{counted(results.waived, 'case')} waived"
    yield from map(one_line, itertools.chain.from_iterable(map(_of_waiver, results.waivers)))
    if results.baseline:
        yield f"compared with the baseline: {against(results.baseline)}"


def _of_waiver(use: WaiverUse) -> Iterator[str]:
    name = f"waiver {use.waiver.id} ({use.waiver.requirement})"
    if use.excused == use.matched > 1:
        yield f"{name} excuses all {use.matched} cases it matches"
    if use.in_part:
        yield f"{name} excuses {counted(use.in_part, 'case')} in part only: red still is {_some(use.left)}"
    if use.is_about_to_expire:
        yield f"{name} holds until {use.waiver.expires.isoformat()} only"
    if use.too_far:
        matched = f"matches {counted(use.matched, 'case')} and excuses none"
        yield f"{name} {matched}: the differences are larger than its tolerance"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_LEFT]) + (f" and {len(names) - _LEFT} more" if len(names) > _LEFT else "")


def against(compared: Comparison) -> str:
    """What has changed since the baseline, in words."""
    altered = f" ({compared.altered} of them with another symptom)" if compared.altered else ""
    others = "; it had other vectors" if compared.of_other_vectors else ""
    changed = f"{counted(compared.regressions, 'regression')}, {compared.known} known{altered}, {compared.mended} fixed"
    return changed + others


def _cell(outcome: str, count: int, paint: Paint, *, excused: bool) -> str:
    kind = "none" if not count else "not-supported" if excused and is_red(Outcome(outcome)) else outcome
    return paint(f"{count:>{max(6, len(outcome))}}", kind)


def folded(remark: str) -> tuple[str, list[str]]:
    """A line of what little a run rests on, with the first of the names that it ends in; and the other names."""
    said, listed, rest = remark.partition(LISTED)
    names = rest.split(" ")
    return f"{said}{listed}{' '.join(names[:_OPERATIONS])}", names[_OPERATIONS:]


def _coverage(results: Results) -> Iterator[str]:
    for line in results.thin_coverage:
        said, others = folded(line)
        yield f"coverage: {one_line(said)}" + (f" and {len(others)} more" if others else "")
    for entry in results.left_out[:1]:
        yield f"left out: {counted(len(results.left_out), 'case')} ({one_line(entry.reason)})"
    yield from (f"red: {one_line(line)}" for line in results.red[:_LISTED])
    if len(results.red) > _LISTED:
        yield f"red: and {len(results.red) - _LISTED} more: results.json has all of them"
    yield from (f"suite problem: {one_line(line)}" for line in results.problems)


def _work(results: Results) -> Iterator[str]:
    """Who executed what under a runtime: a driver counts with what it executed itself, and rightly."""
    if not results.executed_by:
        return
    drivers = sorted({driver for one in results.executed_by for driver in one.drivers})
    counts = {
        name: sum(Outcome.PASS.value in one.drivers.get(name, {}) for one in results.executed_by) for name in drivers
    }
    told = ", ".join(f"{name} executed {count} rightly" for name, count in counts.items()) or "no driver executed any"
    alone = [one.operation for one in results.executed_by if not one.drivers]
    named = " ".join(alone[:_OPERATIONS]) + (" ..." if len(alone) > _OPERATIONS else "")
    cpu = f"; the runtime's CPU alone {len(alone)}: {named}" if alone else ""
    yield one_line(f"under the runtime: of {len(results.executed_by)} operations {told}{cpu}")


def _conclusion(results: Results, paint: Paint) -> Iterator[str]:
    name = one_line(f"{results.manifest.name} {results.manifest.version} ({results.judged_as})")
    if results.conformant:
        yield f"{name}: {paint('conformant', 'pass')}"
        return
    yield f"{name}: {paint('not shown to be conformant', 'fail' if results.exit_code else 'not-supported')}:"
    said = {*results.red, *results.problems}
    reasons = _together([reason for reason in results.reasons if reason not in said])
    if count := sum(reason in said for reason in results.reasons):
        reasons.append(f"{counted(count, 'line')} above, beginning with 'red' or 'suite problem'")
    yield from (f"  {one_line(reason)}" for reason in reasons[:_REASONS])
    if len(reasons) > _REASONS:
        yield f"  ... and {len(reasons) - _REASONS} more reasons"


def _together(reasons: Sequence[str]) -> list[str]:
    """Groups of which nothing was selected stand in one line: whoever runs a suite knows that."""
    matches = [_GROUP.fullmatch(reason) for reason in reasons]
    groups = [match[1] for match in matches if match]
    if len(groups) < 2:
        return list(reasons)
    first = f"no case of the mandatory groups {', '.join(groups[:-1])} and {groups[-1]} was run"
    return [first, *(reason for reason, match in zip(reasons, matches, strict=True) if not match)]
