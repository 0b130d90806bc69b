"""Merges what shards recorded: parts of a run, each in a process of its own with its own subject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from npu_conformance.harness.judge.outcome_table import OK, SUITE_FAILED, WRONG
from npu_conformance.harness.run.events import EventLog, Log, read_log
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseFinished, CaseLeftOut, CaseResult, Ending, RunFinished
from npu_conformance.specs.outcomes import Outcome

EVENTS = "events.jsonl"


@dataclass(frozen=True)
class Shard:
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


def merge(shards: Sequence[Shard], path: Path) -> Log:
    """Write one event file from those of all shards, and read it back.

    What a dead shard owed becomes not-run with its fate as the reason; `problems` of the log names it, so that the run
    ends as failed by the suite. Raises DocumentError where no shard has recorded anything.
    """
    headers = [shard.log.header for shard in shards if shard.log is not None]
    if not headers:
        raise DocumentError(str(path), "", "; ".join(shard.fate for shard in shards) or "no shards")
    sink = EventLog(path)
    cases = tuple(name for shard in shards for name in shard.cases)
    sink.write(replace(headers[0], cases=cases, selection=replace(headers[0].selection, shard="")))
    counts: dict[str, int] = {}
    for shard in shards:
        for result in _verdicts(shard):
            sink.write(CaseFinished(result=result))
            counts[result.outcome.value] = counts.get(result.outcome.value, 0) + 1
        for name, reason in (shard.log.left_out if shard.log else {}).items():
            sink.write(CaseLeftOut(case=name, reason=reason))
    sink.write(_footer(shards, counts))
    sink.close()
    log = read_log(path)
    log.problems += [shard.fate for shard in shards if shard.died]
    log.problems += [problem for shard in shards if shard.log for problem in shard.log.problems]
    return log


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
    footers = [shard.log.footer for shard in shards if shard.log is not None and shard.log.footer is not None]
    endings: list[Ending] = [footer.ending for footer in footers if footer.ending != "complete"]
    reasons = [footer.reason for footer in footers if footer.reason]
    seconds = max((footer.seconds for footer in footers), default=0.0)
    return RunFinished(
        counts=counts, seconds=seconds, ending=endings[0] if endings else "complete", reason="; ".join(reasons)
    )
