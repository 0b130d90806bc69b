"""`npu-conformance diff`: what changed between two report folders."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from npu_conformance.cli.commands._output import print_json
from npu_conformance.harness.judge.outcome_table import OK, UNJUDGED, WRONG
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.diagnostics.one_line import one_line

if TYPE_CHECKING:
    from npu_conformance.specs.documents.summary import Results
    from npu_conformance.specs.outcomes import Outcome


@dataclass(frozen=True)
class Change:
    """A case whose verdict has changed; an outcome is None where a run does not have the case."""

    case: str
    before: Outcome | None
    after: Outcome | None
    worse: bool

    def __str__(self) -> str:
        words = [each.value if each else "absent" for each in (self.before, self.after)]
        return f"{'worse ' if self.worse else ''}{self.case}: {' -> '.join(words)}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("before", metavar="BEFORE", type=Path, help="report folder or results.json, earlier")
    parser.add_argument("after", metavar="AFTER", type=Path, help="report folder or results.json, later")
    parser.add_argument("--json", action="store_true", help="print JSON, with the cases that only one run has")


def execute(options: argparse.Namespace) -> int:
    """Print each case whose verdict changed; exit 1 where one got worse."""
    from npu_conformance.harness.report import comparison, durations, moved
    from npu_conformance.harness.run.baseline import named_results, require_comparable

    before, after = map(named_results, (options.before, options.after))
    require_comparable(before, after.hal_version, str(options.before))
    changes = _changes(before, after)
    worse = sum(change.worse for change in changes)
    if options.json:
        print_json(changes)
        return WRONG if worse else OK
    for remark in comparison.remarks([before, after]):
        print(f"note: {remark}")
    shown = [change for change in changes if change.worse or None not in (change.before, change.after)]
    for change in shown:
        print(change)
    if gone := sum(change.after is None for change in changes):
        print(f"{counted(gone, 'case')} only in {options.before}")
    if new := sum(change.before is None for change in changes):
        print(f"{counted(new, 'case')} only in {options.after}")
    for line in moved.lines(moved.measurements([before, after]), "report BEFORE AFTER --html FILE shows all"):
        print(one_line(line))
    for line in durations.lines(durations.durations([before, after])):
        print(line)
    print(f"{counted(len(shown), 'verdict')} changed, {worse} for the worse")
    return WRONG if worse else OK


def _changes(before: Results, after: Results) -> list[Change]:
    """What has changed of the cases, and of the configurations of those that ended as before.

    Nothing has got worse where the earlier run had no verdict, as it was stopped: what was so before is not known.
    """
    from npu_conformance.harness.run.baseline import is_regression, outcomes

    was = dict(pair for case in before.cases for pair in outcomes(case))
    now = dict(pair for case in after.cases for pair in outcomes(case))
    found = [(name, was.get(name), now.get(name)) for name in {**was, **now} if was.get(name) != now.get(name)]
    changed = {name for name, _, _ in found}
    return [
        Change(name, old, new, new is not None and old not in UNJUDGED and is_regression(old, new))
        for name, old, new in found
        if "#" not in name or (None not in (old, new) and name.partition("#")[0] not in changed)
    ]
