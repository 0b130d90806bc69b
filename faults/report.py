"""The kill matrix and the survey of mutants in words and as JSON-able data. Holes are in capitals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from npu_conformance.faults.kill_matrix import Row, VariantRow
from npu_conformance.faults.mutants.survey import Survey

_WIDTH = 60


def fault_line(row: Row) -> str:
    """One fault: what it breaks, who noticed first, how many did."""
    head = f"{row.fault}  ({' '.join(row.breaks)})"
    if row.is_caught:
        return f"caught  {head}: {len(row.noticed)} of {row.cases} cases, first {row.noticed[0]}, {row.seconds:.2f} s"
    if row.problem:
        return f"HOLE    {head}: {row.problem.upper()}"
    if row.wrong:
        return f"HOLE    {head}: RED WHERE ONLY A WARNING IS DUE: {' '.join(row.wrong[:3])}"
    return f"HOLE    {head}: NOT CAUGHT BY {' '.join(row.missed)} ({row.cases} cases, {len(row.noticed)} noticed)"


def variant_lines(row: VariantRow) -> list[str]:
    """One variant, and the first false alarms."""
    if row.is_green:
        return [f"green   {row.variant}: {row.passed} of {row.cases} cases pass, {row.seconds:.1f} s"]
    lines = [f"RED     {row.variant}: {row.problem.upper() or f'{len(row.red)} FALSE ALARMS'}"]
    return lines + [f"          {case}: {message[: _WIDTH * 3]}" for case, message in row.red[:5]]


def faults_summary(rows: Sequence[Row]) -> str:
    """How many were caught."""
    caught = sum(row.is_caught for row in rows)
    seconds = sum(row.seconds for row in rows)
    holes = len(rows) - caught
    return f"{caught} of {len(rows)} faults caught, {holes} {'HOLES' if holes else 'holes'}, {seconds:.0f} s"


def survey_lines(survey: Survey) -> list[str]:
    """Survivors, a line for each module, and the figure with its interval."""
    lines = [
        f"{verdict.end}: {verdict.module}:{verdict.line} {verdict.edit}"
        for verdict in survey.verdicts
        if verdict.end in ("survived", "unreached")
    ]
    totals = Counter(verdict.module for verdict in survey.verdicts)
    killed = Counter(verdict.module for verdict in survey.verdicts if verdict.end == "killed")
    lines += [f"{module}: {killed[module]} of {total} killed" for module, total in sorted(totals.items())]
    return [*lines, *_figures(survey)]


def _figures(survey: Survey) -> Iterable[str]:
    low, high = survey.interval("killed")
    seen_low, seen_high = survey.interval("killed", "support lost")
    count = survey.judged or 1
    killed, lost = survey.count("killed"), survey.count("support lost")
    yield (
        f"{killed} of {survey.judged} mutants killed: {killed / count:.1%} (95 % interval {low:.1%} to {high:.1%}), "
        f"sampled from {survey.population} with seed {survey.seed}"
    )
    yield (
        f"{lost} more lose support that the reference has, which a baseline makes red: "
        f"{(killed + lost) / count:.1%} ({seen_low:.1%} to {seen_high:.1%})"
    )
    yield f"{survey.count('warned')} more give a quality warning: the public floor allows them"
    yield (
        f"{survey.count('survived')} survived, {survey.count('unreached')} are reached by no case, "
        f"{survey.count('equivalent')} are equivalent; {survey.seconds:.0f} s"
    )
