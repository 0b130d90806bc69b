"""Merges what shards recorded: parts of a run, each in a process of its own with its own subject."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from npu_conformance.harness.judge.outcome_table import OK, SUITE_FAILED, UNJUDGED, WRONG
from npu_conformance.harness.run.events import EventLog, Log, read_log
from npu_conformance.harness.run.folders import EVENTS, SHARDS
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseFinished, CaseLeftOut, CaseResult, Event, RunFinished
from npu_conformance.specs.outcomes import Outcome


class Shard(msgspec.Struct, frozen=True):
    """One shard after its end. cases: ids it owed verdicts. log: what it recorded; None where it wrote no header."""

    number: int
    cases: tuple[str, ...]
    exit_code: int
    log: Log | None

    @property
    def died(self) -> bool:
        """True where the process did not end in order, or left no footer."""
        return self.exit_code not in (OK, WRONG, SUITE_FAILED) or self.log is None or self.log.footer is None

    @property
    def fate(self) -> str:
        """How it ended, for a reader."""
        if self.exit_code < 0:
            return f"shard {self.number} was killed by signal {-self.exit_code}"
        return f"shard {self.number} ended with exit code {self.exit_code}"


def collect(number: int, cases: Sequence[str], exit_code: int, directory: Path) -> Shard:
    """Read what a shard recorded in its report folder. A missing or unreadable event file is part of its fate."""
    try:
        log = read_log(directory / EVENTS)
    except DocumentError:
        log = None
    return Shard(number, tuple(cases), exit_code, log)


def merge(shards: Sequence[Shard], path: Path, earlier: Mapping[str, CaseResult] | None = None) -> Log:
    """Append what all shards recorded to the event file of the run, which has its header, and read it back.

    What a dead shard owed becomes not-run with its fate as the reason; `problems` of the log names it, so that the run
    ends as failed by the suite. earlier: verdicts of the run that is resumed, which the file holds already.
    """
    verdicts = [result for shard in shards for result in _verdicts(shard)]
    left_out = {name: reason for shard in shards if shard.log for name, reason in shard.log.left_out.items()}
    counts = Counter(result.outcome.value for result in (*(earlier or {}).values(), *verdicts))
    events: list[Event] = [CaseFinished(result=result) for result in verdicts]
    events += [CaseLeftOut(case=name, reason=reason) for name, reason in left_out.items()]
    _append(path, [*events, _footer(shards, dict(counts))])
    log = read_log(path)
    log.problems += [shard.fate for shard in shards if shard.died]
    log.problems += [problem for shard in shards if shard.log for problem in shard.log.problems]
    return log


def read_run(folder: Path) -> Log:
    """Read the events of a run from its folder, with what the shards of a killed run left behind. DocumentError."""
    log = read_log(folder / EVENTS)
    for event in _left_behind(folder, log):
        log.add(event)
    return log


def absorb(folder: Path) -> None:
    """Move what the shards of a killed run left behind into the event file of the run."""
    if (folder / SHARDS).is_dir():
        _append(folder / EVENTS, list(_left_behind(folder, read_log(folder / EVENTS))))
        remove(folder)


def remove(folder: Path) -> None:
    """Remove the shards' own folders, once the event file of the run holds what they recorded."""
    shutil.rmtree(folder / SHARDS, ignore_errors=True)


def _left_behind(folder: Path, log: Log) -> Iterator[Event]:
    """What only a shard has recorded: verdicts that are new, or follow one that said nothing of the subject."""
    for path in sorted((folder / SHARDS).glob(f"*/{EVENTS}")):
        try:
            recorded = read_log(path)
        except DocumentError:  # killed before its first event
            continue
        for name, result in recorded.results.items():
            known = log.results.get(name)
            if known is None or (known.outcome in UNJUDGED and known != result):
                yield CaseFinished(result=result)
        unknown = (item for item in recorded.left_out.items() if item[0] not in log.results)
        yield from (CaseLeftOut(case=name, reason=reason) for name, reason in unknown)


def _append(path: Path, events: Iterable[Event]) -> None:
    with closing(EventLog(path, resume=True)) as sink:
        for event in events:
            sink.write(event)


def _verdicts(shard: Shard) -> list[CaseResult]:
    found = dict(shard.log.results) if shard.log else {}
    left_out = shard.log.left_out if shard.log else {}
    missing = [name for name in shard.cases if name not in found and name not in left_out]
    lost = [
        CaseResult(case=name, outcome=Outcome.NOT_RUN, own_outcome=Outcome.NOT_RUN, message=shard.fate)
        for name in missing
    ]
    return [*found.values(), *lost]


def _footer(shards: Sequence[Shard], counts: dict[str, int]) -> RunFinished:
    """How the whole run ended: a dead shard is an interruption, which --resume can make good."""
    footers = [shard.log.footer for shard in shards if shard.log is not None and shard.log.footer is not None]
    endings = [footer.ending for footer in footers if footer.ending != "complete"]
    dead = [shard.fate for shard in shards if shard.died]
    return RunFinished(
        counts=counts,
        seconds=max((footer.seconds for footer in footers), default=0.0),
        ending="interrupted" if dead else endings[0] if endings else "complete",
        reason="; ".join(dict.fromkeys([*dead, *(footer.reason for footer in footers if footer.reason)])),
    )
