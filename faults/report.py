"""The kill matrix and runs of mutants as text and as JSON-able data. Holes are in capitals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npu_conformance.faults.kill_matrix import Row, VariantRow
from npu_conformance.faults.mutants.mutation_runner import CAUGHT, ENOUGH_OF_ONE, End, MutationRun, Share
from npu_conformance.faults.reach import Reach

_WIDTH = 60


def fault_line(row: Row) -> str:
    """One fault: what it breaks, which case detected it first, how many did."""
    head = f"{row.fault}  ({' '.join(row.breaks)})"
    if row.is_caught:
        return f"caught  {head}: {len(row.noticed)} of {row.cases} cases, first {row.noticed[0]}, {row.seconds:.2f} s"
    if row.problem:
        return f"HOLE    {head}: {row.problem.upper()}"
    if row.wrong:
        return f"HOLE    {head}: RED IN ANOTHER WAY THAN IS DUE: {' '.join(row.wrong[:3])}"
    return f"HOLE    {head}: NOT CAUGHT BY {' '.join(row.missed)} ({row.cases} cases, {len(row.noticed)} detected it)"


def variant_lines(row: VariantRow) -> list[str]:
    """One variant, and the first false alarms."""
    if row.is_green:
        return [f"green   {row.variant}: {row.passed} of {row.cases} cases pass, {row.seconds:.1f} s"]
    if row.says_nothing:
        return [f"nothing {row.variant}: none of {row.cases} cases passes"]
    lines = [f"RED     {row.variant}: {row.problem.upper() or f'{len(row.red)} FALSE ALARMS'}"]
    return lines + [f"          {case}: {message[: _WIDTH * 3]}" for case, message in row.red[:5]]


def reach_lines(row: Reach) -> list[str]:
    """One area, the cases that no fault turns red, and the faults of which nobody knows whether they do."""
    reached = row.cases - len(row.unreached)
    return [
        f"{row.area}: {reached} of {row.cases} cases, by {row.faults} faults",
        *(f"  {one}" for one in row.unreached),
        *(f"  NOT JUDGED under {fault}: {problem}" for fault, problem in row.problems),
    ]


def faults_summary(rows: Sequence[Row]) -> str:
    """How many faults were caught."""
    caught = sum(row.is_caught for row in rows)
    seconds = sum(row.seconds for row in rows)
    holes = len(rows) - caught
    return f"{caught} of {len(rows)} faults caught, {holes} {'HOLES' if holes else 'holes'}, {seconds:.0f} s"


def mutation_lines(run: MutationRun) -> list[str]:
    """Survivors, a line for each part of the reference and each operation with a hole, and the figures."""
    lines = [str(verdict) for verdict in run.verdicts if verdict.end in ("survived", "unreached")]
    lines += [_share_line(share) for share in run.parts]
    lines += [_share_line(share) for share in run.operations if share.caught < share.judged]
    return [*lines, *_figures(run)]


def _share_line(share: Share) -> str:
    name = share.name if share.percent >= ENOUGH_OF_ONE else f"{share.name}, LOW"
    return f"{name}: {share.caught} of {share.judged} killed ({share.killed} without claims)"


def _figures(run: MutationRun) -> Iterable[str]:
    count = run.judged or 1
    killed, caught = run.count("killed"), run.count(*CAUGHT)
    yield (
        f"{caught} of {run.judged} mutants killed: {caught / count:.1%} {_interval(run, *CAUGHT)}, "
        f"sampled from {run.population} with seed {run.seed}"
    )
    yield f"{killed} of them without claims: {killed / count:.1%} {_interval(run, 'killed')}"
    yield f"{run.count('support lost')} more lose support where no claim is made, which a baseline makes red"
    yield f"{run.count('warned')} more give a quality warning: the public floor allows them, or the rule is a SHOULD"
    low = [share.name for share in run.operations if share.percent < ENOUGH_OF_ONE]
    yield f"operations below {ENOUGH_OF_ONE:g} %: {' '.join(low) or 'none'}"
    yield (
        f"{run.count('survived')} survived, {run.count('unreached')} are reached by no case, "
        f"{run.count('equivalent')} are equivalent; {run.seconds:.0f} s"
    )


def _interval(run: MutationRun, *ends: End) -> str:
    low, high = run.interval(*ends)
    return f"(95 % interval {low:.1%} to {high:.1%})"
