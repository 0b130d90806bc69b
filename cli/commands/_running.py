"""Runs a selection of cases against a plug-in that has been started, and tells how it went."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from npu_conformance.cli.commands._selecting import require_selected, wanted_by
from npu_conformance.cli.errors import UsageError
from npu_conformance.harness.report.console import Console, one_place
from npu_conformance.harness.report.progress import progress_for
from npu_conformance.harness.run import selection
from npu_conformance.harness.run.budget import by_worth
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.selection import Wanted
from npu_conformance.harness.run.session import Session, Summary
from npu_conformance.harness.run.session_options import SessionOptions
from npu_conformance.harness.subject.loading import Starting
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.results import Selection
from npu_conformance.specs.judged_as import judged_as
from npu_conformance.specs.outcomes import Outcome

_SAYS_NOTHING = frozenset({Outcome.NOT_RUN, Outcome.NOT_APPLICABLE})
"""A case that was red and ends so in a later run is still what --last-failed means."""


def run(options: argparse.Namespace, wanted: SessionOptions, starting: Starting) -> int:
    """Run what the command line asks for, print the verdict table, and return the exit code. Ends the subject.

    Raises LoadError, DocumentError, UsageError, and once there is a report UnwritableError for standard output.
    """
    console = Console(sys.stdout, may_be_lost=True)
    session = Session(wanted, starting)
    try:
        summary, told = _run(options, session, console)
        if not options.part:
            twice = told if one_place(sys.stdout, sys.stderr) else ()
            console.say("\n".join(summary.lines(console.paint, already_explained=twice)))
        if console.lost is not None:
            raise console.lost
        return summary.exit_code
    finally:
        session.close()


def _run(options: argparse.Namespace, session: Session, console: Console) -> tuple[Summary, Collection[str]]:
    """How it went, and the cases that the progress, on standard error, has told of."""
    cases, described, failed_in = _select(options, session)
    headline = _headline(options, session, len(cases), failed_in)
    is_short = options.longest_wait is not None
    with closing(progress_for(len(cases), quiet=options.quiet, is_short=is_short)) as progress:
        if options.processes > 1 or options.scheduler:
            from npu_conformance.cli.commands import _shards

            opened = session.open_report(cases, described)
            console.say(headline)
            return _shards.run(options, session, cases, opened, progress), progress.told
        session.start(cases, described, [] if options.part else [progress])
        progress.resume(session.earlier)
        if not options.part:
            session.interruption.notice = progress.interrupt
            console.say(headline)
        return session.run_all(), progress.told


def _select(options: argparse.Namespace, session: Session) -> tuple[list[Case], Selection, Path | None]:
    """The cases to run, what was asked for, and the run in which they were red, if that is what was asked for.

    Raises LoadError, DocumentError and UsageError.
    """
    if options.part:
        from npu_conformance.cli.commands import _shards

        return _in_order(options, _shards.part(options)), Wanted().described(), None
    wanted = replace(wanted_by(options), shard=options.shard)
    failed_in = None
    if options.last_failed:
        only, failed_in = _earlier(session, wanted)
        wanted = replace(wanted, only=only)
    selected = selection.select(wanted)
    require_selected([case.id for case in selected.cases], wanted)
    cases = _part(options, selected.cases)
    subject = session.subject
    described = wanted.described(selected.deselected(subject.manifest, subject.version))
    return cases, replace(described, last_failed=options.last_failed), failed_in


def _headline(options: argparse.Namespace, session: Session, cases: int, failed_in: Path | None) -> str:
    manifest, version = session.subject.manifest, session.subject.version
    version_told = judged_as(manifest, version.value)
    split = f", in {min(options.processes, cases)} processes" if options.processes > 1 else ""
    split = f", on {options.scheduler}" if options.scheduler else split
    earlier = f", red in {failed_in}" if failed_in is not None and not options.resume else ""
    return (
        f"{manifest.name} {manifest.version} ({options.plugin}), {version_told}, seed {options.seed}: "
        f"{counted(cases, 'case')}{earlier}, scope {options.scope}{split}"
    )


def _part(options: argparse.Namespace, cases: list[Case]) -> list[Case]:
    """What this run has to run of the selection, in its order. Raises UsageError where that is nothing."""
    if options.shard:
        from npu_conformance.harness.run.partition import parse_shard, partition

        index, count = parse_shard(options.shard)
        cases = partition(cases, count)[index - 1]
    if not cases:
        raise UsageError(f"--shard {options.shard}: no case is left for it")
    return _in_order(options, cases)


def _in_order(options: argparse.Namespace, cases: list[Case]) -> list[Case]:
    return by_worth(cases) if options.budget else cases


def _earlier(session: Session, wanted: Wanted) -> tuple[frozenset[str], Path]:
    """The cases that --last-failed means, and the run: the newest in which some of the selection were red that have not
    run since. All of a run where that is resumed. Runs as another HAL version are passed over.
    """
    from npu_conformance.harness.report.summary import red_that_ran
    from npu_conformance.harness.run import results, shards

    if session.options.resume:
        folder = session.earlier_folder()
        return frozenset(shards.read_run(folder).header.cases), folder
    version = session.subject.version.value
    alike: list[Path] = []
    run_since: set[str] = set()
    for folder in session.earlier_folders():
        run = shards.read_run(folder)
        if run.header.hal_version != version:
            continue
        alike.append(folder)
        verdicts = results.complete(run)
        red = frozenset(result.case for result in red_that_ran(verdicts)) - run_since
        if red and selection.select(replace(wanted, only=red)).cases:
            return red, folder
        run_since.update(result.case for result in verdicts if result.outcome not in _SAYS_NOTHING)
    what = "nothing of the selection" if wanted.targets or wanted.expression else "nothing"
    where = f"{alike[0]}{' or a run before it' if alike[1:] else ''}" if alike else f"a run as HAL {version}"
    raise UsageError(f"--last-failed: {what} was red in {where}")
