"""Runs what a failure file holds again: without the run's seed, and without the stored vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.harness.judge.outcome_table import OK, counts_as, row
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.engine import Engine, EngineOptions, Run, Sink
from npu_conformance.specs.documents.failures import FailureFile
from npu_conformance.specs.documents.results import DESCRIPTION, CaseResult, Event
from npu_conformance.specs.outcomes import Disposition, Outcome, worst

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import SubjectHandle

GOOD, BAD, NEITHER = 0, 1, 125
"""Exit codes of `replay --bisect`, as `git bisect run` reads them."""


class Discard:
    """A sink that keeps nothing."""

    def write(self, event: Event) -> None:
        """Drop the event."""


@dataclass(frozen=True)
class Replay:
    """The result of a replay.

    outcome: that of the configurations that had failed, or of the case where none was named.
    """

    failure: FailureFile
    result: CaseResult
    case: Case

    @property
    def outcome(self) -> Outcome:
        """The worst of what had failed; not-run where a configuration no longer exists."""
        if not self.failure.configurations or self.result.own_outcome is not Outcome.PASS:
            return self.result.outcome
        found = {part.name: part.outcome for part in self.result.configurations}
        ended = [found.get(name, Outcome.NOT_RUN) for name in self.failure.configurations]
        gravest = worst(*ended)
        is_partly_lost = self._was_lost and gravest is Outcome.PASS and Outcome.NOT_SUPPORTED in ended
        return Outcome.NOT_SUPPORTED if is_partly_lost else gravest

    @property
    def _was_lost(self) -> bool:
        """True where the failure is that something is no longer supported."""
        return Disposition.NO_LONGER_SUPPORTED in self.failure.result.dispositions

    @property
    def dispositions(self) -> tuple[Disposition, ...]:
        """What is said about the outcome besides: what is no longer supported is so until it passes."""
        is_lost = self._was_lost and self.outcome is Outcome.NOT_SUPPORTED
        return (Disposition.NO_LONGER_SUPPORTED,) if is_lost else ()

    @property
    def is_red(self) -> bool:
        """True where it still fails."""
        return self.exit_code != OK

    @property
    def told(self) -> CaseResult:
        """The result of what had failed. Other configurations, such as declined ones, say nothing about that."""
        told = replace(self.result, dispositions=(*self.dispositions, *self.result.dispositions))
        if not self.failure.configurations or self.result.own_outcome is not Outcome.PASS:
            return told
        parts = tuple(part for part in self.result.configurations if part.name in self.failure.configurations)
        return replace(told, outcome=self.outcome, configurations=parts)

    @property
    def exit_code(self) -> int:
        """The exit code, as that of a run."""
        return row(self.outcome, self.dispositions).exit_code

    @property
    def bisect_code(self) -> int:
        """GOOD where it passes now, BAD where it is still wrong, NEITHER where that cannot be told."""
        if self.outcome is Outcome.PASS:
            return GOOD
        ended = counts_as(self.outcome, self.dispositions)
        return BAD if ended in (Outcome.FAIL, Outcome.CRASH, Outcome.HANG) else NEITHER


def replay(
    failure: FailureFile,
    case: Case,
    subject: SubjectHandle,
    sink: Sink | None = None,
    beside: SubjectHandle | None = None,
) -> Replay:
    """Run the case of a failure file, with the file's seed and scope. beside: see CaseContext. See run_one."""
    described = failure.result.notes.get(DESCRIPTION)
    if failure.payload is not None and isinstance(described, str):
        case = replace(case, about=described)  # it is made of the payload, which has no words
    only = failure.configurations[0] if len(failure.configurations) == 1 else ""
    options = EngineOptions(
        case_seed=failure.result.seed,
        scope=Scope(failure.scope),
        only=only,
        suite_version=failure.suite_version,
        digests=failure.digests,
    )
    run = run_one(Engine([case], subject, sink or Discard(), options, beside=beside))
    return Replay(failure, run.results[0], case)


def run_one(engine: Engine) -> Run:
    """Run the one case of an engine. Raises KeyboardInterrupt where somebody ended it: not-run would be no verdict."""
    run = engine.run()
    if run.ending == "interrupted":
        raise KeyboardInterrupt
    return run


def bisect_code(replays: Sequence[Replay], *, unread: int = 0) -> int:
    """The exit code of several together: BAD where one is, GOOD where all are. unread: files that cannot be read."""
    codes = {*(replayed.bisect_code for replayed in replays), *([NEITHER] if unread else [])}
    return BAD if BAD in codes else NEITHER if NEITHER in codes else GOOD


def rebuild(failure: FailureFile) -> Case:
    """The case of a failure file: made of its payload, or found by its id where it has none."""
    if failure.payload is None:
        return suites.find(failure.case)
    return suites.rebuild(failure.case, failure.payload)
