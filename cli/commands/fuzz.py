"""`npu-conformance fuzz`: campaigns of fuzzers against a plug-in, and what becomes of their findings."""

from __future__ import annotations

import argparse
from pathlib import Path

from npu_conformance.cli.commands._numbers import time_in_seconds
from npu_conformance.cli.errors import UsageError
from npu_conformance.cli.examples import FUZZER, shown
from npu_conformance.fuzz import AREAS
from npu_conformance.fuzz.lib.target import fuzzer_named
from npu_conformance.harness.judge.outcome_table import OK

FOLDER = Path(".npu-conformance/fuzz")
ALL = "all"
_SECONDS = 60.0
_EXIT_CODES = "exit codes: 0 nothing found, 1 a finding, new or met again, 2 usage or not applicable, 3 nothing done"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    actions = parser.add_subparsers(metavar="WHAT", required=True, dest="what")
    for name in (ALL, *AREAS):
        about = "all fuzzers that can attack the plug-in" if name == ALL else fuzzer_named(name).about
        examples = shown(line.format(name=name) for line in FUZZER)
        _add_campaign(actions.add_parser(name, help=about, epilog=f"{examples}\n\n{_EXIT_CODES}"))
    actions.add_parser("list", help="list the fuzzers")
    triage = actions.add_parser("triage", help="list the findings of a campaign, by kind and place")
    triage.add_argument("folder", metavar="DIR", type=Path, nargs="?", default=FOLDER, help=f"default: {FOLDER}")
    triage.add_argument("--json", action="store_true", help="one JSON array")
    page = actions.add_parser("report", help="write the page of a campaign again, as each campaign does at its end")
    page.add_argument("folder", metavar="DIR", type=Path, nargs="?", default=FOLDER, help=f"default: {FOLDER}")
    promote = actions.add_parser("promote", help="turn a finding into a case that every run with --vectors includes")
    promote.add_argument("name", metavar="NAME", help="name of the finding, or its file, as `triage` prints it")
    promote.add_argument("--to", metavar="DIR", type=Path, required=True, help="folder of your repository for findings")
    promote.add_argument(
        "--corpus", metavar="DIR", type=Path, default=FOLDER, help=f"folder of the campaign (default: {FOLDER})"
    )
    smaller = actions.add_parser("minimise", help="drop the inputs of a corpus that add nothing to the others")
    smaller.add_argument("folder", metavar="DIR", type=Path, nargs="?", default=FOLDER, help=f"default: {FOLDER}")


def _add_campaign(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("more", metavar="NAME", nargs="*", help="further fuzzers, which share the time")
    parser.add_argument("--plugin", metavar="P", required=True, help="implementation under test, as for `run`")
    parser.add_argument("--plugin-option", metavar="NAME=VALUE", action="append", default=[], help="repeatable")
    parser.add_argument("--hal", metavar="VERSION", help="HAL version to test as: 1.0 1.1 1.2 1.3 fl5 fl6 fl7 fl8")
    parser.add_argument("--beside", metavar="P", default="", help="a second implementation, for `differential`")
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument(
        "--time",
        metavar="T",
        type=time_in_seconds,
        default=_SECONDS,
        help=f"how long: 90s, 10m or 8h (default: {_SECONDS:g}s)",
    )
    limit.add_argument("--runs", metavar="N", type=int, help="instead of a time: one round of N inputs for each fuzzer")
    parser.add_argument(
        "--longest-wait",
        metavar="SECONDS",
        type=float,
        help="never wait longer than SECONDS for a call, an import, or an input to a plug-in that Python loads "
        "(default: the manifest's deadlines; for such an input, 10 s times its time_scale)",
    )
    parser.add_argument(
        "-n",
        "--jobs",
        metavar="N",
        type=int,
        help="run N rounds at once (default: 1; on a cluster, one for each thread)",
    )
    parser.add_argument(
        "--scheduler", metavar="URL", default="", help="run the rounds on the workers of a Dask scheduler"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="seed of the inputs; printed")
    parser.add_argument(
        "--corpus",
        metavar="DIR",
        type=Path,
        default=FOLDER,
        help=f"folder of inputs and findings; the campaign in it is continued (default: {FOLDER})",
    )
    parser.add_argument(
        "--engine",
        choices=("evolution", "atheris", "hypothesis"),
        help="choose inputs by the answers, by coverage of Python code, or at random (default: the first two)",
    )


def execute(options: argparse.Namespace) -> int:
    """Run a campaign, or work on one; return WRONG where it has found something."""
    from npu_conformance.cli.commands import _fuzz_campaign, _fuzz_findings

    if options.what == "list":
        return _list()
    if options.what == "triage":
        return _fuzz_findings.triage(options.folder, as_json=options.json)
    if options.what == "report":
        print(_fuzz_findings.report(options.folder))
        return OK
    if options.what == "promote":
        return _fuzz_findings.promote(options.corpus, options.name, options.to)
    if options.what == "minimise":
        return _fuzz_findings.minimise(options.folder)
    return _fuzz_campaign.run(options, [fuzzer_named(name) for name in _names(options)])


def _names(options: argparse.Namespace) -> list[str]:
    unknown = [name for name in options.more if name not in AREAS]
    if unknown:
        raise UsageError(f"fuzz: expected some of {', '.join(AREAS)}, found {unknown[0]!r}")
    if options.what == ALL:
        return list(AREAS)
    return list(dict.fromkeys((options.what, *options.more)))


def _list() -> int:
    width = max(map(len, AREAS))
    for name in AREAS:
        print(f"{name:{width}}  {fuzzer_named(name).about}")
    return OK
