"""`npu-conformance catalogue check`: checks the catalogue of a vendor's own extension."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from npu_conformance.cli.commands._options import add_catalogue_option
from npu_conformance.harness.judge.outcome_table import OK, WRONG
from npu_conformance.specs.documents import DocumentError

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
    from npu_conformance.corpus.extensions import guarding
    from npu_conformance.specs.neuralnetworks.extensions import FILE

    if not (options.folder / FILE).is_file():
        raise DocumentError(str(options.folder), "", f"expected a folder with the {FILE} of an extension")
    is_right, lines = guarding.guarded(lambda: _check(options.folder), tuple[bool, list[str]], options.folder)
    print(*lines, sep="\n")
    return OK if is_right else WRONG


def _check(folder: Path) -> tuple[bool, list[str]]:
    """Whether nothing is wrong; then how much there is, or a line for each problem."""
    from npu_conformance.corpus import extensions
    from npu_conformance.corpus.extensions import checking

    if problems := [str(problem) for problem in extensions.examine(folder)]:
        return False, problems
    with extensions.registered([folder]) as (extension,):
        if problems := list(checking.problems(extension)):
            return False, problems
        return True, [_summary(extension.name, checking.counts(extension))]


def _summary(name: str, counts: Counts) -> str:
    return (
        f"{name}: nothing is wrong with {counts.operations} operations and {counts.vectors} vectors, of which "
        f"{counts.rejected} have to be refused and {counts.witnessed} agree with an oracle"
    )
