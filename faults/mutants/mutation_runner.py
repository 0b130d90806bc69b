"""Runs a sample of mutants, each in a fork, against the cases that reach its line, until a case detects it."""

from __future__ import annotations

import math
import random
import signal
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from npu_conformance.faults.code_swap import SwapError, source_of
from npu_conformance.faults.kill_matrix import run_cases
from npu_conformance.faults.mutants import targets, tracing
from npu_conformance.faults.mutants.operators import Mutant, mutants
from npu_conformance.faults.mutants.tracing import Line, Reached, Witness, spread, spread_areas
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs import documents
from npu_conformance.specs.documents import Document
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.forked import Ended, in_children
from npu_conformance.specs.outcomes import Disposition, Outcome
from npu_conformance.specs.versions import Version

EQUIVALENT = Path(__file__).parent.parent / "equivalent_mutants"
_SECONDS = 3600.0
_CASE_SECONDS = 20
_FIRST_CASES = 200
_TOLD_EVERY = 50
_VECTORS, _BEHAVIOURS = 1500, 2500
"""How many witnesses a mutant is run against: first, and in all where the first ones do not detect it: fewer where most
are vectors than where they are cases about behaviour, each of which looks at something of its own."""

_RED = (Outcome.FAIL, Outcome.CRASH, Outcome.HANG)

End = Literal["killed", "killed by claims", "support lost", "warned", "survived", "unreached", "equivalent"]
"""killed: a case is red. killed by claims: a case is red for a device that claims the operations it supports.
support lost: a case that passed is not supported now, and no claim can cover it; --baseline makes that red.
warned: a case has a quality warning, the public floor allowing the result.
unreached: no case executes the line. equivalent: argued so in equivalent_mutants/."""

CAUGHT: tuple[End, ...] = ("killed", "killed by claims")
ENOUGH, ENOUGH_OF_ONE = 95.0, 90.0
"""The percentage of all mutants, and of each operation's, that is to be killed."""


class EquivalentMutant(Document, frozen=True):
    """A mutant that computes the same. mutant: its id; with `*` for the edit, all of one function. reason: why."""

    mutant: str
    reason: str

    def covers(self, mutant: Mutant) -> bool:
        """True for the mutant that it names, or for one of the function."""
        function, _, edit = self.mutant.rpartition(": ")
        return mutant.id.startswith(f"{function}: ") if edit == "*" else mutant.id == self.mutant


class EquivalentMutants(Document, frozen=True):
    """A stored list: of one operation, or of what several share."""

    mutants: tuple[EquivalentMutant, ...]


class Verdict(msgspec.Struct, frozen=True):
    """The verdict of one mutant. by: the first case that detected it; for a survivor the case that broke the suite."""

    module: str
    line: int
    edit: str
    end: End
    by: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        by = f" ({self.by})" if self.by and self.end not in CAUGHT else ""
        return f"{self.end}: {self.module}:{self.line} {self.edit}{by}"


class Sample(msgspec.Struct, frozen=True):
    """Which mutants are run.

    size: how many; None for all. per_operation: so many of each operation's own modules. operation, part: of these
    modules only. shard: of the sample, every N-th from the I-th on.
    """

    size: int | None = None
    seed: int = 0
    operation: str = ""
    part: str = ""
    per_operation: bool = False
    shard: tuple[int, int] = (1, 1)

    def of(self, population: Sequence[Mutant]) -> list[Mutant]:
        """Draw it."""
        groups: dict[str, list[Mutant]] = {}
        for mutant in population:
            groups.setdefault(targets.operation(mutant.module) if self.per_operation else "", []).append(mutant)
        drawn = [mutant for name, group in groups.items() for mutant in self._drawn(name, group)]
        return drawn[self.shard[0] - 1 :: self.shard[1]]

    def _drawn(self, name: str, group: list[Mutant]) -> list[Mutant]:
        dice = random.Random(f"{self.seed} {name}" if name else self.seed)
        return group if self.size is None else dice.sample(group, min(self.size, len(group)))


class Share(msgspec.Struct, frozen=True):
    """How many mutants of a part of the reference, or of an operation's own modules, were killed.

    judged: those not equivalent. caught: killed with claims; killed: without them.
    """

    name: str
    judged: int
    caught: int
    killed: int

    @property
    def percent(self) -> float:
        """The percentage caught; 100 of none."""
        return 100 * self.caught / self.judged if self.judged else 100.0


class MutationRun(msgspec.Struct, frozen=True):
    """All verdicts. population: how many mutants there are. seed: of the sample. parts, operations: shares of them."""

    population: int
    seed: int
    verdicts: tuple[Verdict, ...]
    seconds: float
    parts: tuple[Share, ...] = ()
    operations: tuple[Share, ...] = ()

    def count(self, *ends: End) -> int:
        """How many mutants ended so."""
        return sum(verdict.end in ends for verdict in self.verdicts)

    @property
    def judged(self) -> int:
        """All mutants but the equivalent ones."""
        return len(self.verdicts) - self.count("equivalent")

    def interval(self, *ends: End) -> tuple[float, float]:
        """The 95 % interval (Wilson) of the share that ended so."""
        count, share = self.judged, self.count(*ends) / self.judged if self.judged else 0.0
        if not count:
            return 0.0, 1.0
        z = 1.96
        middle = (share + z * z / (2 * count)) / (1 + z * z / count)
        half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
        return middle - half, middle + half


def run_mutants(
    cases: Sequence[Case], sample: Sample, tell: Callable[[str], None] = print, at_once: int | None = None
) -> MutationRun:
    """Run a sample of mutants. tell: gets a line for each that is not killed, and how far the run is.

    at_once: how many processes, for each core one where nothing is said. Raises ValueError for an operation and a part.
    """
    if sample.operation and sample.part:
        raise ValueError("an operation's modules, or a part's")
    started = time.monotonic()
    names = targets.modules(sample.operation, sample.part)
    processes = at_once or tracing.CORES
    traced = tracing.reached(cases, names, processes, tell)
    population = _population(names, traced)
    if sample.per_operation:
        population = [mutant for mutant in population if targets.operation(mutant.module)]
    drawn = sample.of(population)
    verdicts: dict[int, Verdict] = {}
    for index, verdict in _verdicts(drawn, traced.witnesses, processes):
        verdicts[index] = verdict
        if verdict.end not in ("killed", "equivalent"):
            tell(str(verdict))
        if len(verdicts) % _TOLD_EVERY == 0:
            tell(f"{len(verdicts)} of {len(drawn)} mutants")
    in_order = tuple(verdicts[index] for index in range(len(drawn)))
    return _run_of(len(population), sample.seed, in_order, time.monotonic() - started)


def joined(shards: Mapping[int, MutationRun], count: int) -> MutationRun:
    """One run of its shards by their numbers, from 1 to `count`; those that are missing are lost."""
    by_place = [
        (place * count + number, verdict)
        for number, shard in shards.items()
        for place, verdict in enumerate(shard.verdicts)
    ]
    in_order = tuple(verdict for _, verdict in sorted(by_place, key=lambda one: one[0]))
    first = next(iter(shards.values()), MutationRun(0, 0, (), 0.0))
    return _run_of(first.population, first.seed, in_order, max((one.seconds for one in shards.values()), default=0.0))


def _run_of(population: int, seed: int, verdicts: tuple[Verdict, ...], seconds: float) -> MutationRun:
    shares = (_shares(verdicts, targets.part), _shares(verdicts, targets.operation))
    return MutationRun(population, seed, verdicts, seconds, *shares)


def _shares(verdicts: Sequence[Verdict], name_of: Callable[[str], str]) -> tuple[Share, ...]:
    """The share of each group of modules that `name_of` names; modules without a name are left out."""
    groups: dict[str, list[End]] = {}
    for verdict in verdicts:
        if verdict.end != "equivalent":
            groups.setdefault(name_of(verdict.module), []).append(verdict.end)
    return tuple(
        Share(name, len(ends), sum(end in CAUGHT for end in ends), ends.count("killed"))
        for name, ends in sorted(groups.items())
        if name
    )


def equivalent_mutants() -> list[EquivalentMutant]:
    """All equivalent mutants on the lists. Raises DocumentError."""
    files = sorted(EQUIVALENT.glob("*.json"))
    return [one for file in files for one in documents.read(file, EquivalentMutants).mutants]


def _population(names: list[str], traced: Reached) -> list[Mutant]:
    """All mutants but those in code that only runs at import."""
    found = [mutant for name in names for mutant in mutants(name, source_of(targets.load(name)))]
    reaching, at_import = traced.witnesses, traced.at_import
    return [
        mutant for mutant in found if _line(mutant, reaching) in reaching or _line(mutant, at_import) not in at_import
    ]


def _line(mutant: Mutant, lines: Container[Line]) -> Line:
    """The line at which tracing saw the mutant: its own, or the first one of its statement."""
    own = (mutant.module, mutant.line)
    return own if own in lines else (mutant.module, mutant.statement)


def _verdicts(sample: list[Mutant], reaching: dict[Line, list[Witness]], at_once: int) -> Iterator[tuple[int, Verdict]]:
    """The verdict of each with its place in the sample, as they become known."""
    known = equivalent_mutants()
    run: list[int] = []
    for index, mutant in enumerate(sample):
        if any(one.covers(mutant) for one in known):
            yield index, _blank(mutant, "equivalent")
        elif _line(mutant, reaching) not in reaching:
            yield index, _blank(mutant, "unreached")
        else:
            run.append(index)
    works = (_work(sample[index], reaching[_line(sample[index], reaching)]) for index in run)
    for place, answer in in_children(works, _Kill, _SECONDS, at_once):
        yield run[place], _verdict(sample[run[place]], answer)


def _blank(mutant: Mutant, end: End) -> Verdict:
    return Verdict(mutant.module, mutant.line, mutant.edit, end)


def _work(mutant: Mutant, witnesses: list[Witness]) -> Callable[[], _Kill]:
    of_behaviour = (targets.DRIVER, targets.NPU, targets.RUNTIME)
    if targets.part(mutant.module) in of_behaviour:
        return lambda: _kill(mutant, spread_areas(witnesses)[:_BEHAVIOURS])
    return lambda: _kill(mutant, spread(witnesses)[:_VECTORS])


def _verdict(mutant: Mutant, answer: _Kill | Ended) -> Verdict:
    if isinstance(answer, Ended):
        if answer.code == 1:
            raise RuntimeError(f"{mutant.id}: the work itself failed, see above")
        return msgspec.structs.replace(_blank(mutant, "killed"), by=f"(the process) {answer.reason}")
    ways: tuple[tuple[str, End], ...] = (
        (answer.invalid, "equivalent"),
        (answer.red, "killed"),
        (answer.claimed, "killed by claims"),
        (answer.lost, "support lost"),
        (answer.warned, "warned"),
        (answer.broken, "survived"),
    )
    by, end = next(((by, end) for by, end in ways if by), ("", "survived"))
    return msgspec.structs.replace(_blank(mutant, end), by=by, seconds=answer.seconds)


class _Kill(msgspec.Struct):
    """A case that is red; that is red with claims; that passed and is not supported now; that warns.

    broken: one that ended in a suite error, which detects nothing. invalid: why there is no mutant at all.
    """

    red: str = ""
    claimed: str = ""
    lost: str = ""
    warned: str = ""
    broken: str = ""
    invalid: str = ""
    seconds: float = 0.0

    @property
    def is_noticed(self) -> bool:
        """True where a verdict is red."""
        return bool(self.red or self.claimed)


def _kill(mutant: Mutant, witnesses: Sequence[Witness]) -> _Kill:
    """Run the first witnesses; the others too where none of them detected it. Runs in a child."""
    found = _Kill()
    started = time.monotonic()
    try:
        targets.install(mutant)
    except SwapError as error:
        found.invalid = str(error)
        return found
    for part in (witnesses[:_FIRST_CASES], witnesses[_FIRST_CASES:]):
        if not found.is_noticed:
            _run(part, found)
    found.seconds = time.monotonic() - started
    return found


def _run(witnesses: Sequence[Witness], found: _Kill) -> None:
    """Run these under their versions until one is red; the newest version first."""
    for hal in sorted({witness.hal for witness in witnesses}, key=Version, reverse=True):
        chosen = [witness for witness in witnesses if witness.hal == hal]
        passed = {witness.case.id for witness in chosen if witness.passed}
        warned = {witness.case.id for witness in chosen if witness.warned}
        cases = [witness.case for witness in chosen]
        try:
            subject = tracing.open_reference(hal, cases)
        except LoadError as error:
            found.red = f"(the start) {error}"
            return
        signal.alarm(_CASE_SECONDS)
        run_cases(subject, cases, partial(_look, hal, passed, warned, found))
        if found.red:
            return


def _look(hal: str, passed: Container[str], warned: Container[str], found: _Kill, result: CaseResult) -> bool:
    # A case that never ends ends this child: the default of SIGALRM. Each case sets the alarm for the next one.
    signal.alarm(_CASE_SECONDS)
    if result.outcome in _RED:
        found.red = result.case
    elif result.outcome is Outcome.SUITE_ERROR:
        # The suite itself uses what is mutated, or stumbles over it.
        found.broken = found.broken or f"suite error in {result.case}: {result.message}"
    elif result.case in passed and tracing.claimed(result, hal) is Outcome.FAIL:
        found.claimed = found.claimed or result.case
    elif result.case in passed and result.outcome is Outcome.NOT_SUPPORTED:
        found.lost = found.lost or result.case
    elif Disposition.QUALITY_WARNING in result.dispositions and result.case not in warned:
        found.warned = found.warned or result.case
    return bool(found.red)
