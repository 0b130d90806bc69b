"""`npu-conformance catalogue check`: checks the catalogue of a vendor's own extension."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from npu_conformance.cli.commands._options import add_catalogue_option
from npu_conformance.harness.judge.outcome_table import OK, WRONG

if TYPE_CHECKING:
    from npu_conformance.corpus.extensions.checking import Counts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    check = actions.add_parser(
        "check", help="tables, rules, vectors and their expected values: one line for each problem"
    )
    check.add_argument("folder", metavar="DIR", type=Path, help="the folder with extension.json")
    add_catalogue_option(check)


def execute(options: argparse.Namespace) -> int:
    """Check one folder. `--catalogue` names those of other extensions whose types it uses."""
    from npu_conformance.corpus import extensions
    from npu_conformance.corpus.extensions import checking

    problems = [str(problem) for problem in extensions.examine(options.folder)]
    summary = ""
    if not problems:
        with extensions.registered([options.folder]) as (extension,):
            problems = list(checking.problems(extension))
            summary = "" if problems else _summary(extension.name, checking.counts(extension))
    print("\n".join(problems) or summary)
    return WRONG if problems else OK


def _summary(name: str, counts: Counts) -> str:
    return (
        f"{name}: nothing is wrong with {counts.operations} operations and {counts.vectors} vectors, of which "
        f"{counts.rejected} have to be refused and {counts.witnessed} agree with an oracle"
    )
