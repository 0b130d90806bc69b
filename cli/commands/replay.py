"""`npu-conformance replay`: run the failure file of an earlier run again, without its seed or the stored vectors."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from npu_conformance.cli.commands._options import add_catalogue_option, add_plugin_options, session_options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("file", metavar="FILE", type=Path, help="a file of failures/ in a report folder")
    add_plugin_options(parser)
    add_catalogue_option(parser)
    parser.add_argument("--bisect", action="store_true", help="exit 0 good, 1 bad, 125 neither: for git bisect run")


def execute(options: argparse.Namespace) -> int:
    """Run it and say what became of the failure. While bisecting, a file that cannot be run is neither good nor bad."""
    from npu_conformance.harness.run.replay import NEITHER

    try:
        return _replay(options)
    except Exception as error:
        if not options.bisect:
            raise
        print(f"npu-conformance: {type(error).__name__}: {error}", file=sys.stderr)
        return NEITHER


def _replay(options: argparse.Namespace) -> int:
    from npu_conformance.harness.report.console import Console
    from npu_conformance.harness.report.lines import explain
    from npu_conformance.harness.run import failures, replay
    from npu_conformance.harness.run.session import open_by_options
    from npu_conformance.specs.outcomes import Outcome

    failure = failures.load(options.file)
    if options.hal is None:
        options.hal = failure.hal_version.value
    case = replay.rebuild(failure)
    subject = open_by_options(session_options(options))
    try:
        outcome = replay.replay(failure, case, subject)
    finally:
        subject.close()
    console = Console(sys.stdout)
    console.say(f"was {failure.result.outcome.value}, now {outcome.outcome.value}")
    if outcome.outcome is Outcome.PASS:
        console.say(f"case: {case.headline}")
    console.say(explain(outcome.result, console.paint))
    return outcome.bisect_code if options.bisect else outcome.exit_code
