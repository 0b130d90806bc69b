"""`npu-conformance merge`: one report, and one verdict, of the shards that several machines ran."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path

from npu_conformance.cli.commands._options import Once
from npu_conformance.harness.report.console import Console


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("folders", metavar="DIR", type=Path, nargs="+", help="report folders of all shards of one run")
    parser.add_argument("--report", metavar="DIR", type=Path, required=True, help="folder for the merged report")
    parser.add_argument(
        "--waivers",
        metavar="FILE",
        action="append",
        default=[],
        help="the waivers that the shards were run with; each is judged by the merged run; repeatable",
    )
    parser.add_argument(
        "--baseline",
        metavar="DIR",
        action=Once,
        help="the baseline that the shards were run with: only regressions are red",
    )
    parser.add_argument(
        "--require-conformant",
        action="store_true",
        help="exit with 1 unless the merged run shows that the subject conforms",
    )


def execute(options: argparse.Namespace) -> int:
    """Merge the folders, print the table, and return the exit code of the whole."""
    from msgspec.structs import replace

    from npu_conformance.harness.judge import waivers
    from npu_conformance.harness.report.writing import writing
    from npu_conformance.harness.run import baseline, folders, merging, results
    from npu_conformance.harness.run.executing.executors import EXECUTORS
    from npu_conformance.harness.run.session import conclude
    from npu_conformance.specs import judged_as

    _require_elsewhere(options)
    logs = merging.read([folders.resolve(folder) for folder in options.folders])
    header = next(iter(logs.values())).header
    _require_excuses(options, header.waivers, header.baseline)
    given = waivers.load_all(map(Path, options.waivers), ways=EXECUTORS)
    compared = baseline.load(Path(options.baseline), header.digests, header.hal_version) if options.baseline else None
    version = judged_as.short(header.manifest, header.hal_version)
    covered = folders.covers(version, replace(header.selection, shard=""))
    report, moved = folders.take(options.report, covered=covered)
    with contextlib.closing(report):
        log = merging.merge(logs, report.path, header.plugin_words)
        outcome = results.build(log, given, compared, must_conform=options.require_conformant)
        summary = conclude(log, outcome, report.path, compared, header.plugin_words)
        with writing(report.path, "the report"):
            report.mark(covered if outcome.is_whole else "")
    console = Console(sys.stdout)
    console.say("\n".join(summary.lines(console.paint)))
    if moved:
        console.say(f"the earlier run in {options.report} is kept in {moved}")
    if report.removal:
        console.say(report.removal)
    return outcome.exit_code


def _require_elsewhere(options: argparse.Namespace) -> None:
    """Refuse a report folder from which the failure files of a shard would be moved away before they are read."""
    from npu_conformance.cli.errors import UsageError
    from npu_conformance.harness.run import folders

    for named in options.folders:
        if folders.would_move(options.report, folders.resolve(named)):
            raise UsageError(f"--report: {options.report}: the shard {named} would be moved away: name another folder")


def _require_excuses(options: argparse.Namespace, waivers: str, baseline: str) -> None:
    """Refuse other waivers or another baseline than the shards had: what these excuse is in the verdicts already."""
    from npu_conformance.cli.errors import UsageError
    from npu_conformance.harness.run import digests, folders

    given = {
        "waivers": digests.of_files(map(Path, options.waivers)),
        "baseline": digests.of_file(folders.results_file(Path(options.baseline))) if options.baseline else "",
    }
    for name, had in {"waivers": waivers, "baseline": baseline}.items():
        if given[name] != had:
            was = f"were run with other ones than --{name} names" if had else "were run without any"
            raise UsageError(f"--{name}: the shards {was}")
