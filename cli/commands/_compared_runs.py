"""Several report folders of `npu-conformance report`: side by side on the terminal, or as a page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from npu_conformance.cli.commands._output import print_json, write_text
from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.judge.outcome_table import OK
from npu_conformance.harness.report.console import Console

if TYPE_CHECKING:
    from npu_conformance.harness.report.comparison import ComparedRun
    from npu_conformance.specs.documents.summary import Results

_OF_ONE_RUN = ("reasons", "beside_run", "fuzz", "junit", "badge", "csv", "failures", "causes", "warnings")


def compare(options: argparse.Namespace) -> int:
    """Print or write the comparison of several runs. Raises UsageError with a line for each folder that is none."""
    from npu_conformance.harness.report import comparison, comparison_page
    from npu_conformance.harness.run.baseline import is_regression

    for name in _OF_ONE_RUN:
        if getattr(options, name):
            raise UsageError(f"--{name.replace('_', '-')}: shows one run, found {len(options.folders)} folders")
    compared = comparison.compared(_runs(options.folders), is_regression)
    if options.html:
        write_text(options.html, comparison_page.document(compared))
    if options.json:
        print_json(compared)
    elif not options.html:
        console = Console(sys.stdout)
        for line in comparison.lines(compared):
            console.say(line)
    return OK


def _runs(named: Sequence[Path]) -> list[ComparedRun]:
    """The runs of the folders; one that is named twice, as by `latest`, counts once."""
    from npu_conformance.harness.report.comparison import ComparedRun
    from npu_conformance.harness.run import folders
    from npu_conformance.specs.documents import DocumentError

    found: dict[Path, ComparedRun] = {}
    problems = []
    for path in named:
        place = (path if path.is_file() else folders.resolve(path)).resolve()
        try:
            found.setdefault(place, ComparedRun(str(path), _results(place)))
        except DocumentError as error:
            problems.append(str(error))
    if problems:
        raise UsageError("\nnpu-conformance: ".join(problems))
    if len(found) == 1:
        raise UsageError(f"{', '.join(map(str, named))}: these are one run; expected several to compare")
    return list(found.values())


def _results(place: Path) -> Results:
    """The results of a report folder, or those of a results.json that was kept alone."""
    from npu_conformance.harness.run import results, stored_runs

    return results.read(place) if place.is_file() else stored_runs.read(place)[1]
