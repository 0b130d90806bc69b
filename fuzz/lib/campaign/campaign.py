"""A campaign: rounds, several at once, until the time is over; what they bring is merged in between."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass

from msgspec.structs import replace

from npu_conformance.fuzz.lib.campaign.documents import Finding, RoundJob, RoundLine, RoundResult
from npu_conformance.fuzz.lib.campaign.executors import Workers
from npu_conformance.fuzz.lib.campaign.folder import CampaignFolder
from npu_conformance.fuzz.lib.campaign.shares import Arm, Shares
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.diagnostics.one_line import one_line

_ROUND_SECONDS = 20.0
_SHORTEST_ROUND = 2.0
_ROUNDS_EACH = 4
"""A short campaign is cut into at least so many rounds for each arm, if that does not make them too short."""
_ATHERIS_ROUND = 60.0
"""Rounds of Atheris are longer: instrumented imports take 10 s."""
_LATEST = 2.0
"""Seconds behind its time at which a round is ended that is at something else by then, such as a hang."""
_TICK_SECONDS = 0.5
_MOST_RUNS = 50_000
"""Inputs of a round: what a campaign that is killed loses at most, and how often it tells where it is."""
_MOST_LOST = 3
_PRIME = 1_000_003


@dataclass
class Limits:
    """seconds: of wall time. runs: inputs for each arm, where there is no time."""

    seconds: float | None
    runs: int | None


class Campaign:
    """A campaign on a folder."""

    def __init__(
        self,
        folder: CampaignFolder,
        job: RoundJob,
        arms: Sequence[Arm],
        limits: Limits,
        workers: Workers,
        told: Callable[[Campaign], None] = lambda campaign: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """job: what all rounds have in common. told: called every half second, and after rounds."""
        self.folder, self.job, self.arms, self.limits, self.workers = folder, job, arms, limits, workers
        self.inapplicable: dict[str, str] = {}
        """Why fuzzers were left out, by their names."""
        self.lost: list[str] = []
        """Why rounds were lost."""
        self._told, self._clock = told, clock
        self._shares = Shares(arms)
        for line in folder.rounds:
            self._shares.count(line)
        self._before, self._findings_before = len(folder.rounds), len(folder.findings)
        self._begun = clock()
        self._at_before = max((line.at for line in folder.rounds), default=0.0)
        folder.now = lambda: self.at
        self._numbers = itertools.count(self._before)
        self._running: dict[Future[RoundResult], tuple[Arm, RoundJob]] = {}
        self._due = [(arm, runs) for runs in _pieces(limits.runs) for arm in arms]
        self._lost_in_a_row = 0
        self._doubted = folder.doubts()
        """Findings of earlier runs which nothing has met in this run, which may be of another build."""
        self._seeds_run: dict[Arm, int] = {}
        """Of arms with a round in this run: the first one runs all, since the plug-in may be another build."""

    @property
    def rounds(self) -> list[RoundLine]:
        """Those of this run."""
        return self.folder.rounds[self._before :]

    @property
    def findings(self) -> list[Finding]:
        """Those that are new in this run."""
        return self.folder.findings[self._findings_before :]

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return self._clock() - self._begun

    @property
    def at(self) -> float:
        """Seconds of the campaign, those of its earlier runs included."""
        return self._at_before + self.elapsed

    @property
    def executions(self) -> int:
        """Inputs of this run, those of rounds on this machine included that are not over."""
        return sum(line.executions for line in self.rounds) + self.workers.under_way.runs

    @property
    def met_again(self) -> set[str]:
        """Signatures of findings of earlier runs that this one has met."""
        known = {finding.signature for finding in self.folder.findings[: self._findings_before]}
        fresh = {finding.signature for finding in self.findings}
        return {name for line in self.rounds for name in line.repeats if name in known} - fresh

    def run(self) -> None:
        """Run to the end. Raises LoadError where the plug-in cannot be fuzzed at all."""
        self._fill()
        while self._running:
            done, _ = wait(self._running, timeout=_TICK_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                self._take(future)
            self._fill()
            self._told(self)

    def _fill(self) -> None:
        while len(self._running) < self.workers.jobs:
            chosen = self._next_arm()
            if chosen is None:
                return
            arm, runs = chosen
            job = self.job_for(arm, runs)
            self._running[self._submitted(job)] = arm, job

    def _submitted(self, job: RoundJob) -> Future[RoundResult]:
        try:
            return self.workers.executor.submit(self.workers.round, job)
        except Exception as error:
            # A scheduler that has gone away is told by Dask's own exceptions, which need not be there to be named.
            raise LoadError(f"the cluster takes no more rounds: {error}") from None

    def _next_arm(self) -> tuple[Arm, int | None] | None:
        """An arm, and its inputs where these are counted. Each has a round at least; then shares decide, for a time."""
        if self._due:
            return self._due.pop(0)
        if self.limits.runs is not None or not self._shares.arms or self._left() < _SHORTEST_ROUND:
            return None
        return self._shares.next([arm for arm, _ in self._running.values()], self._round_seconds()), None

    def _left(self) -> float:
        assert self.limits.seconds is not None
        return self.limits.seconds - self.elapsed

    def _round_seconds(self, longest: float = _ROUND_SECONDS) -> float:
        """A part of the time that each arm gets at least; rounds of Atheris, which start slowly, are all of it."""
        assert self.limits.seconds is not None
        parts = _ROUNDS_EACH if longest == _ROUND_SECONDS else 1
        share = self.limits.seconds * self.workers.jobs / (parts * len(self._shares.arms))
        return min(max(share, _SHORTEST_ROUND), longest)

    def _seconds_of(self, arm: Arm) -> float:
        wanted = self._round_seconds(_ATHERIS_ROUND if arm.engine == "atheris" else _ROUND_SECONDS)
        return max(min(wanted, self._left()), _SHORTEST_ROUND)

    def job_for(self, arm: Arm, runs: int | None = None) -> RoundJob:
        """What the next round of an arm is given: the corpus, and what is known. runs: None for a time."""
        seconds = self._seconds_of(arm) if runs is None else None
        kept = self.folder.corpus(arm.fuzzer)
        return replace(
            self.job,
            fuzzer=arm.fuzzer,
            engine=arm.engine,
            seed=self.job.seed * _PRIME + next(self._numbers),
            runs=runs,
            seconds=seconds,
            ends=None if seconds is None else max(seconds, self._left()) + _LATEST,
            inputs=tuple(one.data for one in kept),
            shown=tuple(one.features for one in kept) if arm in self._seeds_run else (),
            seeds_run=self._seeds_run.get(arm, 0),
            features=tuple(sorted(self.folder.features(arm.fuzzer))),
            known=tuple(sorted(self.folder.known())),
            doubted=self._doubted,
            skip=tuple(sorted(self.folder.killers(arm.fuzzer))),
        )

    def _take(self, future: Future[RoundResult]) -> None:
        """Merge what a round brought. A round whose worker died is lost, and nothing else."""
        arm, job = self._running.pop(future)
        try:
            result = future.result()
            lost = result.problem
            if not lost:
                self._seeds_run[arm] = max(self._seeds_run.get(arm, 0), result.seeds_run)
            self._lost_in_a_row = self._lost_in_a_row if lost else 0
        except LoadError as error:
            if not self.rounds or self._lost_in_a_row >= _MOST_LOST:
                raise
            result, lost = _nothing(arm), str(error)
        except (Exception, CancelledError) as error:
            result, lost = _nothing(arm), f"{type(error).__name__}: {error}"
        if lost := one_line(lost):
            self._lose(lost)
        if result.inapplicable:
            self.inapplicable[arm.fuzzer] = result.inapplicable
            self._shares.drop(arm.fuzzer)
            self._due = [due for due in self._due if due[0].fuzzer != arm.fuzzer]
        self._shares.count(self.folder.add(self._undoubted(result), job.seed, self.at, lost))

    def _undoubted(self, result: RoundResult) -> RoundResult:
        """The result with one finding at most in place of each that is known by its name; what was met is certain."""
        sightings = tuple(
            replace(found, is_another=found.is_another and found.signature in self._doubted)
            for found in result.sightings
        )
        met = {*result.repeats, *(found.signature for found in result.sightings)}
        self._doubted = {name: doubt for name, doubt in self._doubted.items() if name not in met}
        return replace(result, sightings=sightings)

    def _lose(self, reason: str) -> None:
        self.lost.append(reason)
        self._lost_in_a_row += 1
        if self._lost_in_a_row >= _MOST_LOST:
            raise LoadError(f"{self._lost_in_a_row} rounds in a row were lost, the last: {reason}")


def _pieces(runs: int | None) -> list[int | None]:
    """The inputs of each round of an arm; None for rounds by time."""
    if runs is None:
        return [None]
    return [min(_MOST_RUNS, runs - done) for done in range(0, runs, _MOST_RUNS)]


def _nothing(arm: Arm) -> RoundResult:
    return RoundResult(fuzzer=arm.fuzzer, engine=arm.engine, executions=0, seconds=0.0, start_seconds=0.0)
