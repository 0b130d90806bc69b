"""`npu-conformance diff`: what changed between two report folders."""

from __future__ import annotations

import argparse
from pathlib import Path

from npu_conformance.harness.commands._output import print_json
from npu_conformance.harness.main import UsageError
from npu_conformance.harness.outcome_table import OK, WRONG


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("before", metavar="DIR", type=Path, help="report folder of the earlier run")
    parser.add_argument("after", metavar="DIR", type=Path, help="report folder of the later run")
    parser.add_argument("--json", action="store_true", help="as JSON")


def execute(options: argparse.Namespace) -> int:
    """Print each case whose verdict changed; exit 1 where one got worse."""
    from npu_conformance.harness import results
    from npu_conformance.harness.baseline import is_regression

    before, after = (results.read(folder / results.FILE) for folder in (options.before, options.after))
    if before.digests.vectors != after.digests.vectors:
        raise UsageError("the two runs used different vectors and are not compared")
    was = {case.case: case.outcome for case in before.cases}
    now = {case.case: case.outcome for case in after.cases}
    changes = [(name, was.get(name), now.get(name)) for name in {**was, **now} if was.get(name) != now.get(name)]
    worse = [name for name, old, new in changes if new is not None and is_regression(old, new)]
    if options.json:
        rows = [{"case": name, "before": old, "after": new, "worse": name in worse} for name, old, new in changes]
        print_json(rows)
    else:
        for name, old, new in changes:
            mark = "worse " if name in worse else ""
            print(f"{mark}{name}: {old.value if old else 'absent'} -> {new.value if new else 'absent'}")
        print(f"{len(changes)} of {len({**was, **now})} cases changed, {len(worse)} for the worse")
    return WRONG if worse else OK
