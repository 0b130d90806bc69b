"""`npu-conformance report`: a page, a JUnit file or the table again, from the folder of a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from npu_conformance.harness.outcome_table import OK


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("folder", metavar="DIR", type=Path, help="report folder of a run")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write the page to FILE")
    parser.add_argument("--junit", metavar="FILE", type=Path, help="write JUnit XML to FILE")
    parser.add_argument("--failures", action="store_true", help="explain every red case")


def execute(options: argparse.Namespace) -> int:
    """Read what was recorded, also of a run that was killed, and write what was asked for."""
    from npu_conformance.harness import events, results
    from npu_conformance.harness.outcome_table import is_red
    from npu_conformance.harness.report import junit, page, table
    from npu_conformance.harness.report.lines import explain
    from npu_conformance.harness.session import EVENTS

    log = events.read_log(options.folder / EVENTS)
    stored = options.folder / results.FILE
    outcome = results.read(stored) if stored.exists() and log.footer else results.build(log)
    verdicts = results.complete(log)
    if options.html:
        options.html.write_text(page.document(outcome, verdicts))
    if options.junit:
        options.junit.write_text(junit.document(verdicts, outcome.manifest.name))
    if options.failures:
        red = [result for result in verdicts if is_red(result.outcome, result.dispositions)]
        print("\n".join(map(explain, red)) or "nothing is red")
    elif not (options.html or options.junit):
        print("\n".join(table.lines(outcome)))
    return OK
