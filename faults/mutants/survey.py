"""Runs a sample of mutants, each in a fork, against the cases that reach its line, until one notices."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from npu_conformance.faults import code_swap
from npu_conformance.faults.code_swap import SwapError, source_of
from npu_conformance.faults.kill_matrix import PLUGIN, run_cases
from npu_conformance.faults.mutants import targets
from npu_conformance.faults.mutants.operators import Mutant, mutants
from npu_conformance.faults.mutants.targets import Tracer
from npu_conformance.faults.workers import Ended, in_child
from npu_conformance.harness.cases import Case
from npu_conformance.harness.loading import open_subject
from npu_conformance.specs import documents
from npu_conformance.specs.documents import Document
from npu_conformance.specs.outcomes import Disposition, Outcome
from npu_conformance.specs.results import CaseResult
from npu_conformance.specs.versions import NEWEST

EQUIVALENT = Path(__file__).parent.parent / "equivalent_mutants"
_SECONDS = 30.0
_CASES = 150
_VERSIONS = (NEWEST.value, "1.3", "1.1")
"""HAL versions of the reference that cases are run against: rules of HIDL alone are not rules of AIDL."""

_RULES = ("vts.structure.", "vts.request_structure.")
"""Cases whose subject is the rules of the validator, which nearly every other case reaches by the way."""

_RED = (Outcome.FAIL, Outcome.CRASH, Outcome.HANG)

End = Literal["killed", "support lost", "warned", "survived", "unreached", "equivalent"]
"""killed: a case is red. support lost: none is, but one that passed is not supported now, which --baseline makes red.
warned: a case has a quality warning, the public floor allowing the result.
unreached: no case executes the line. equivalent: argued so in equivalent_mutants/."""


class EquivalentMutant(Document, frozen=True):
    """A mutant that computes the same. mutant: its id. reason: why."""

    mutant: str
    reason: str


class EquivalentMutants(Document, frozen=True):
    """A stored list: of one operation, or of what several share."""

    mutants: tuple[EquivalentMutant, ...]


class Verdict(msgspec.Struct, frozen=True):
    """What came of one mutant. by: the case that noticed first."""

    module: str
    line: int
    edit: str
    end: End
    by: str = ""
    seconds: float = 0.0


class Survey(msgspec.Struct, frozen=True):
    """All verdicts. population: how many mutants there are. seed: of the sample."""

    population: int
    seed: int
    verdicts: tuple[Verdict, ...]
    seconds: float

    def count(self, *ends: End) -> int:
        """How many ended so."""
        return sum(verdict.end in ends for verdict in self.verdicts)

    @property
    def judged(self) -> int:
        """All but the equivalent ones."""
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


class _Reach(msgspec.Struct):
    """What one case reaches: places in the list of lines. passed: it does on the reference of HAL version `hal`."""

    case: str
    hal: str
    lines: list[int]
    seconds: float
    passed: bool


class _Traced(msgspec.Struct):
    lines: list[tuple[str, int]]
    reached: list[_Reach]
    at_import: list[tuple[str, int]]


def survey(
    cases: Sequence[Case], size: int | None, seed: int, operation: str = "", tell: Callable[[str], None] = print
) -> Survey:
    """Run a sample of `size` mutants (null: all of them)."""
    started = time.monotonic()
    names = targets.modules(operation)
    traced = in_child(lambda: _trace(cases, names), _Traced, 600.0)
    if isinstance(traced, Ended):
        raise RuntimeError(f"tracing the cases: {traced.reason}")
    reaching = _reaching(traced, {case.id: case for case in cases})
    known = {one.mutant for one in equivalent_mutants()}
    population = _population(names, {(module, line) for module, line in traced.at_import}, reaching)
    sample = population if size is None else random.Random(seed).sample(population, min(size, len(population)))
    verdicts = []
    for mutant in sample:
        verdict = _verdict(mutant, known, reaching.get(_line(mutant, reaching), []))
        verdicts.append(verdict)
        if verdict.end not in ("killed", "equivalent"):
            tell(f"{verdict.end}: {verdict.module}:{verdict.line} {verdict.edit}")
    return Survey(len(population), seed, tuple(verdicts), time.monotonic() - started)


def equivalent_mutants() -> list[EquivalentMutant]:
    """All that are on a list. Raises DocumentError."""
    files = sorted(EQUIVALENT.glob("*.json"))
    return [one for file in files for one in documents.read(file, EquivalentMutants).mutants]


def _trace(cases: Sequence[Case], names: list[str]) -> _Traced:
    """Run every case once, and note what it reaches. Runs in a child: what tracing disturbs ends with it."""
    tracer = Tracer(names)
    at_import = tracer.at_import()
    numbers: dict[tuple[str, int], int] = {}
    reached: list[_Reach] = []

    def look(result: CaseResult) -> bool:
        lines = [numbers.setdefault(line, len(numbers)) for line in tracer.stop()]
        if result.outcome is Outcome.PASS or result.outcome is Outcome.NOT_SUPPORTED:
            reached.append(_Reach(result.case, hal, lines, result.seconds, result.outcome is Outcome.PASS))
        for name in names:
            # What an earlier case left in a cache would hide that this one needs it too.
            code_swap.clear_caches(targets.load(name))
        tracer.start()
        return False

    for hal in _VERSIONS:
        subject = open_subject(PLUGIN, {"fault": "reference", "hal": hal}, "inprocess")
        tracer.start()
        run_cases(subject, [case for case in cases if hal == NEWEST.value or _is_of_old_versions(case)], look)
        tracer.stop()
        subject.close()
    return _Traced(list(numbers), reached, sorted(at_import))


def _is_of_old_versions(case: Case) -> bool:
    """True for what an older HAL answers differently: rules with versions, and refusals that ended with one."""
    return case.until < NEWEST or case.id.startswith(_RULES)


@dataclass(frozen=True)
class _Witness:
    """A case that executes a line of a reference of version `hal`. passed: it does, so that losing it would be seen."""

    case: Case
    hal: str
    passed: bool


_Reaching = dict[tuple[str, int], list[_Witness]]


def _reaching(traced: _Traced, cases: dict[str, Case]) -> _Reaching:
    """For each line the cases that execute it, the quickest first."""
    found: _Reaching = {}
    for reach in sorted(traced.reached, key=lambda one: one.seconds):
        witness = _Witness(cases[reach.case], reach.hal, reach.passed)
        for number in reach.lines:
            found.setdefault(traced.lines[number], []).append(witness)
    return found


def _population(names: list[str], at_import: set[tuple[str, int]], reaching: _Reaching) -> list[Mutant]:
    """All mutants but those in code that only runs at import."""
    found = [mutant for name in names for mutant in mutants(name, source_of(targets.load(name)))]
    return [
        mutant for mutant in found if _line(mutant, reaching) in reaching or _line(mutant, at_import) not in at_import
    ]


def _line(mutant: Mutant, lines: Container[tuple[str, int]]) -> tuple[str, int]:
    """The line at which tracing saw the mutant: its own, or the first one of its statement."""
    own = (mutant.module, mutant.line)
    return own if own in lines else (mutant.module, mutant.statement)


def _verdict(mutant: Mutant, known: Container[str], witnesses: list[_Witness]) -> Verdict:
    blank = Verdict(mutant.module, mutant.line, mutant.edit, "equivalent")
    if mutant.id in known:
        return blank
    if not witnesses:
        return msgspec.structs.replace(blank, end="unreached")
    started = time.monotonic()
    answer = in_child(lambda: _kill(mutant, _spread(witnesses)), _Kill, _SECONDS)
    seconds = time.monotonic() - started
    if isinstance(answer, Ended):
        if answer.reason.endswith("exit code 1"):
            raise RuntimeError(f"{mutant.id}: the work itself failed, see above")
        return msgspec.structs.replace(blank, end="killed", by=f"(the process) {answer.reason}", seconds=seconds)
    ways: tuple[tuple[str, End], ...] = (
        (answer.invalid, "equivalent"), (answer.red, "killed"), (answer.lost, "support lost"),
        (answer.warned, "warned"), ("-", "survived"),
    )  # fmt: skip
    by, end = next((by, end) for by, end in ways if by)
    return msgspec.structs.replace(blank, end=end, by=by, seconds=seconds)


def _spread(witnesses: list[_Witness]) -> list[_Witness]:
    """Where very many cases reach a line: those about rules, the quickest of the others, and more evenly from the rest.

    Every case that hands in a model reaches the validator; those that are about its rules must not be left to chance.
    """
    rules = [witness for witness in witnesses if witness.case.id.startswith(_RULES)]
    others = [witness for witness in witnesses if not witness.case.id.startswith(_RULES)]
    step = max(len(others) / _CASES, 1.0)
    return rules + [others[int(index * step)] for index in range(min(_CASES, len(others)))]


class _Kill(msgspec.Struct):
    """A case that is red; that passed and is not supported now; that warns. invalid: there is no mutant at all."""

    red: str = ""
    lost: str = ""
    warned: str = ""
    invalid: str = ""


def _kill(mutant: Mutant, witnesses: Sequence[_Witness]) -> _Kill:
    found = _Kill()
    try:
        targets.install(mutant)
    except SwapError as error:
        found.invalid = str(error)
        return found
    passed = {(witness.hal, witness.case.id) for witness in witnesses if witness.passed}

    def look(result: CaseResult) -> bool:
        # A suite error would mean that the suite itself uses what is mutated: that notices nothing.
        if result.outcome in _RED:
            found.red = result.case
        elif result.outcome is Outcome.NOT_SUPPORTED and (hal, result.case) in passed:
            found.lost = found.lost or result.case
        elif Disposition.QUALITY_WARNING in result.dispositions:
            found.warned = found.warned or result.case
        return bool(found.red)

    for hal in _VERSIONS:
        chosen = [witness.case for witness in witnesses if witness.hal == hal]
        if chosen and not found.red:
            run_cases(open_subject(PLUGIN, {"fault": "reference", "hal": hal}, "inprocess"), chosen, look)
    return found
