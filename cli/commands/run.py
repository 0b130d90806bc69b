"""`npu-conformance run`: runs the suites against a plug-in, and ends in a verdict table and a report folder.

What running needs is imported when the plug-in has been started: its own imports go on at the same time.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from npu_conformance.cli.commands._numbers import require_positive
from npu_conformance.cli.commands._options import (
    BESIDE_EXAMPLE,
    Once,
    add_beside_options,
    add_plugin_options,
    add_selection_options,
    add_wire_log_option,
    session_options,
)
from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.judge.outcome_table import SUITE_FAILED
from npu_conformance.harness.run.diagnostics import diagnosed
from npu_conformance.harness.run.folders import KEPT
from npu_conformance.harness.run.session_options import SessionOptions, start_by_options

_SESSION_OPTIONS = (
    "scope", "time_scale", "baseline", "require_conformant", "report", "keep", "seed", "shuffle", "resume",
    "stop_after",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_selection_options(parser)
    add_run_options(parser)


def add_run_options(parser: argparse.ArgumentParser, beside: str = BESIDE_EXAMPLE) -> None:
    """Declare how cases are run, whichever they are. beside: which plug-in --beside is, as its help says."""
    add_plugin_options(parser)
    add_beside_options(parser, beside)
    parser.add_argument("-n", dest="processes", metavar="N", type=int, default=1, help="run in N processes")
    parser.add_argument(
        "--scheduler", metavar="URL", default="", help="run on the workers of a Dask scheduler (docs/cluster.md)"
    )
    parser.add_argument(
        "--shard", metavar="I/N", action=Once, default="", help="run the I-th of N parts of the selection"
    )
    parser.add_argument(
        "--budget", metavar="TIME", help="stop after 90s, 15m or 2h; the most worthwhile cases run first"
    )
    parser.add_argument(
        "--time-scale",
        metavar="FACTOR",
        type=float,
        default=1.0,
        help="run stress cases FACTOR times as long as usual (docs/stress.md)",
    )
    parser.add_argument(
        "--report", metavar="DIR", default="", help="report folder (default: a new one in .npu-conformance/NAME)"
    )
    parser.add_argument(
        "--keep",
        metavar="N",
        type=int,
        default=KEPT,
        help="keep the newest N reports of the same whole suites and scope, and the newest N of anything less, "
        f"such as a few cases, including this one (default: {KEPT})",
    )
    parser.add_argument(
        "--resume", action="store_true", help="continue the latest run of the plug-in, or the run in --report DIR"
    )
    parser.add_argument(
        "--last-failed",
        action="store_true",
        help="run only the selected cases that were red in the latest run (or in --report DIR, if a run is there); "
        "if none were, those that were red in the newest earlier run and have not been rerun since",
    )
    parser.add_argument(
        "--waivers",
        metavar="FILE",
        action="append",
        default=[],
        help="known failures: reason, owner, link, expiry; repeatable",
    )
    parser.add_argument(
        "--baseline",
        metavar="DIR",
        action=Once,
        help="an earlier report folder or results.json: only regressions are red",
    )
    parser.add_argument(
        "--require-conformant", action="store_true", help="exit with 1 unless the run shows that the subject conforms"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the run; printed")
    parser.add_argument("--shuffle", action="store_true", help="run in an order that follows from the seed")
    parser.add_argument("-x", "--stop-after", metavar="N", type=int, help="stop after N red cases")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only the summary, no progress")
    parser.add_argument(
        "--trace", metavar="FILE", type=Path, help="write where the time goes, for Perfetto or chrome://tracing"
    )
    parser.add_argument(
        "--log", metavar="FILE", type=Path, help="file for the log lines that NPU_VLOG turns on (docs/diagnostics.md)"
    )
    add_wire_log_option(parser)
    parser.add_argument("--part", metavar="DIR", type=Path, help=argparse.SUPPRESS)  # for a shard, whose parent prints


def execute(options: argparse.Namespace) -> int:
    """Run and print the verdict table."""
    try:
        return _execute(options)
    except KeyboardInterrupt:
        if options.part:
            return SUITE_FAILED  # the run that it is a part of says so, once
        raise


def _execute(options: argparse.Namespace) -> int:
    require_sense(options)
    wanted = run_session_options(options)
    with diagnosed(options.trace, options.log, options.wire_log):
        starting = start_by_options(wanted)
        from npu_conformance.cli.commands import _running

        return _running.run(options, wanted, starting)


def require_sense(options: argparse.Namespace) -> None:
    """Raise UsageError for numbers that say nothing, and options that exclude each other."""
    require_positive("-n", options.processes)
    require_positive("-x", options.stop_after)
    if options.scheduler:
        for flag in ("shard", "trace", "log", "wire_log"):
            if getattr(options, flag):
                raise UsageError(f"--{flag.replace('_', '-')}: not with --scheduler")
        from npu_conformance.harness.run.workers import require_dask

        require_dask()


def run_session_options(options: argparse.Namespace) -> SessionOptions:
    """The options of a run's session."""
    given = {name: getattr(options, name) for name in _SESSION_OPTIONS}
    if options.budget:
        from npu_conformance.harness.run.budget import parse_budget

        given["seconds"] = parse_budget(options.budget)
    if options.part:
        given |= {"report": str(options.part), "part_of": str(options.part.parents[1])}
    return session_options(
        options,
        **given,
        vectors=tuple(map(str, options.vectors)),
        waivers=tuple(options.waivers),
        at_once=options.processes,
    )
