"""`npu-conformance replay`: run failures of an earlier run again, without its seed or the stored vectors."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from npu_conformance.cli.commands._numbers import require_positive
from npu_conformance.cli.commands._options import (
    add_beside_options,
    add_catalogue_option,
    add_plugin_options,
    add_wire_log_option,
    session_options,
)
from npu_conformance.cli.errors import UsageError
from npu_conformance.cli.streams import tell
from npu_conformance.harness.judge.outcome_table import word
from npu_conformance.harness.report.console import Console
from npu_conformance.harness.run.diagnostics import diagnosed
from npu_conformance.specs.documents import DocumentError

if TYPE_CHECKING:
    from npu_conformance.harness.run.cases import Case
    from npu_conformance.harness.run.replay import Replay
    from npu_conformance.specs.documents.failures import FailureFile


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "file",
        metavar="FILE|DIR",
        type=Path,
        help="a failure file, or a report folder or its results.json for all of its failures",
    )
    add_plugin_options(parser)
    add_beside_options(parser)
    add_catalogue_option(parser)
    add_wire_log_option(parser)
    parser.add_argument("--bisect", action="store_true", help="exit 0 good, 1 bad, 125 neither: for git bisect run")
    parser.add_argument(
        "--repeat", metavar="N", type=int, default=1, help="run each failure N times, and report which are flaky"
    )


def execute(options: argparse.Namespace) -> int:
    """Run it and say what became of the failure. While bisecting, a file that cannot be run is neither good nor bad."""
    from npu_conformance.harness.run.replay import NEITHER

    try:
        with diagnosed(wire_file=options.wire_log):
            return _replay(options)
    except (Exception, KeyboardInterrupt) as error:
        if not options.bisect:
            raise
        tell(f"npu-conformance: {type(error).__name__}: {error}")
        return NEITHER


def _replay(options: argparse.Namespace) -> int:
    from npu_conformance.harness.judge.outcome_table import WRONG, exit_code
    from npu_conformance.harness.run import failures, replay

    require_positive("--repeat", options.repeat)
    paths = failures.files(options.file)
    if not paths:
        raise UsageError(f"{options.file}: no failure file is here")
    console, ran = Console(sys.stdout), []
    of_a_run = paths != [options.file]
    readable = _readable(options.file, paths) if of_a_run else [_read(options.file)]
    for replayed in _replays(options, readable):
        ran.append(replayed)
        if options.repeat == 1:
            is_short = options.longest_wait is not None
            console.say(_line(replayed, console) if of_a_run else _explained(replayed, console, is_short=is_short))
        elif len(ran) % options.repeat == 0:
            console.say(_counted(ran[-options.repeat :]))
    unread = len(paths) - len(readable)
    if of_a_run:
        console.say(_sum(ran, unread) if options.repeat == 1 else _sum_of_each(ran, options.repeat, unread))
    if options.bisect:
        return replay.bisect_code(ran, unread=unread)
    return exit_code([*(replayed.exit_code for replayed in ran), *([WRONG] if unread else [])])


def _readable(named: Path, paths: Sequence[Path]) -> list[tuple[FailureFile, Case]]:
    """The failures of a run and their cases. What cannot be read is told in a line, and the others go on.

    Raises UsageError where none can be read.
    """
    found = []
    for path in paths:
        try:
            found.append(_read(path))
        except DocumentError as error:
            tell(f"npu-conformance: not replayed: {error}")
    if not found:
        raise UsageError(f"{named}: no failure file here can be read")
    return found


def _read(path: Path) -> tuple[FailureFile, Case]:
    """A failure and its case. Raises DocumentError."""
    from npu_conformance.harness.run import failures, replay

    failure = failures.load(path)
    return failure, replay.rebuild(failure)


def _replays(options: argparse.Namespace, readable: Sequence[tuple[FailureFile, Case]]) -> Iterator[Replay]:
    """Run each failure as often as it is asked for, on one subject, which serves the HAL version of their run."""
    from npu_conformance.harness.run import replay
    from npu_conformance.harness.run.session_options import open_beside, open_by_options

    versions = sorted({failure.hal_version.value for failure, _ in readable})
    if options.hal is None and len(versions) > 1:
        raise UsageError(f"{options.file}: the failures are of HAL {' and '.join(versions)}: choose one with --hal")
    session = session_options(options, hal=options.hal or versions[0])
    with ExitStack() as opened:
        subject = opened.enter_context(closing(open_by_options(session)))
        beside = open_beside(session)
        if beside is not None:
            opened.enter_context(closing(beside))
        for failure, case in readable:
            for _ in range(options.repeat):
                yield replay.replay(failure, case, subject, beside=beside)


def _explained(replayed: Replay, console: Console, *, is_short: bool) -> str:
    """All about a failure that was replayed alone. is_short: the user has said how long a wait may be."""
    from npu_conformance.harness.report.lines import explain, whole_words
    from npu_conformance.specs.outcomes import Outcome

    lines = [f"was {_was(replayed)}, now {word(replayed.outcome, replayed.dispositions)}"]
    among = "that had failed" if replayed.failure.configurations else ""
    if replayed.outcome is Outcome.PASS:
        lines.append(f"case: {replayed.case.headline}")
    explained = explain(replayed.told, console.paint, among=among, is_short=is_short)
    return "\n".join([*lines, explained, *whole_words(replayed.told)])


def _line(replayed: Replay, console: Console) -> str:
    """One of many."""
    from npu_conformance.harness.report.lines import headline

    return f"was {_was(replayed)}, now {headline(replayed.told, console.paint)}"


def _was(replayed: Replay) -> str:
    return word(replayed.failure.result.outcome, replayed.failure.result.dispositions)


def _counted(replays: Sequence[Replay]) -> str:
    """What became of one failure that was run several times."""
    counts = Counter(word(replayed.outcome, replayed.dispositions) for replayed in replays)
    told = ", ".join(f"{ended} {number} of {len(replays)}" for ended, number in counts.most_common())
    if _is_flaky(replays):
        told += ": flaky"
    elif not replays[0].is_red:
        told += f", was {_was(replays[0])}: fixed, or flaky"
    return f"{replays[0].case.id}: {told}"


def _sum_of_each(replays: Sequence[Replay], times: int, unread: int) -> str:
    """How many failures come and go, how many are there each time, and how many not once. unread: as of _sum."""
    each = [replays[start : start + times] for start in range(0, len(replays), times)]
    flaky = sum(map(_is_flaky, each))
    red = sum(ran[0].is_red for ran in each if not _is_flaky(ran))
    told = f"{red} still fail each time, {flaky} flaky, {len(each) - red - flaky} did not fail once"
    return told + (f", {unread} cannot be read" if unread else "")


def _is_flaky(replays: Sequence[Replay]) -> bool:
    return len({replayed.is_red for replayed in replays}) > 1


def _sum(replays: Sequence[Replay], unread: int) -> str:
    """How many still fail, how many pass now, and what became of the others. unread: files that cannot be read."""
    from npu_conformance.harness.report.lines import excuse
    from npu_conformance.specs.outcomes import Outcome

    red = sum(replayed.is_red for replayed in replays)
    counted = Counter(replayed.outcome for replayed in replays if not replayed.is_red)
    passed = counted.pop(Outcome.PASS, 0)
    excused = sum(replayed.is_red and bool(excuse(replayed.failure.result)) for replayed in replays)
    failing = f"{red} still fail" + (f" ({excused} of them waived or known)" if excused else "")
    others = [f"{number} now {outcome.value}" for outcome, number in counted.items()]
    others += [f"{unread} cannot be read"] if unread else []
    return ", ".join([failing, f"{passed} now pass", *others])
