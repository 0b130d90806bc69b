"""Finds the witnesses of mutants: which cases execute which lines of the reference, under which HAL version."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from npu_conformance.faults import code_swap
from npu_conformance.faults.kill_matrix import GUARDED, run_cases
from npu_conformance.faults.mutants import targets
from npu_conformance.faults.mutants.targets import Tracer
from npu_conformance.harness.judge import claims
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.reference.extensions import own
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.forked import Ended, in_children
from npu_conformance.specs.manifest import Claim
from npu_conformance.specs.outcomes import Disposition, Outcome
from npu_conformance.specs.versions import NEWEST, Version

CORES = max(len(os.sched_getaffinity(0)), 1)
_SECONDS, _MOST_CASES = 1200.0, 1000
"""A process that traces has no more cases and no more time."""
_EVERYTHING = Claim(operations=())
"""The claim of a device that supports every operation, as the reference does."""

_RULES = ("vts.structure.", "vts.request_structure.")
"""Cases about the rules of the validator, which nearly every other case reaches as well."""

_VECTORS = ("vts.generated.", "vts.relations.", "vts.validation.")
"""Cases about operations, of which there are thousands."""


_NPU_PROFILES = {NEWEST: "npu", Version.FL7: "manager-aosp-profile"}
"""The profiles of the npu services, named by versions of the Neural Networks HAL, which do not concern them."""

_RUNTIME_LEVELS = (NEWEST, Version.FL5, Version.V1_3, Version.V1_2, Version.V1_1)
"""Feature levels at which the runtime's cases are run: the newest, and both sides of what began at levels 3 and 5."""


@dataclass(frozen=True)
class Witness:
    """A case that executes a line of a reference of version `hal`.

    passed: it does, and the device may claim it. warned: with a quality warning, which then says nothing of a mutant.
    """

    case: Case
    hal: str
    passed: bool
    warned: bool = False


Line = tuple[str, int]
"""Module and line."""


@dataclass(frozen=True)
class Reached:
    """For each line its witnesses, those that reach little first. at_import: lines that run at a module's import."""

    witnesses: dict[Line, list[Witness]]
    at_import: frozenset[Line]


class _Reach(msgspec.Struct):
    """The lines that one case reaches, as places in the list of lines."""

    case: str
    lines: list[int]
    passed: bool
    warned: bool


class _Traced(msgspec.Struct):
    hal: str
    lines: list[Line]
    reached: list[_Reach]
    at_import: list[Line]


def open_reference(hal: str, cases: Sequence[Case]) -> SubjectHandle:
    """The reference that these cases are about, of this HAL version or feature level, in this process.

    For cases of a device and of a runtime it has its extensions, and the process knows them from then on.
    """
    if cases[0].interface == "device":
        fault = "two-extensions"
    elif cases[0].interface == "runtime":
        own.register()
        fault = f"runtime-level-{Version(hal)}"
    else:
        fault = _NPU_PROFILES[Version(hal)]
    return open_subject(GUARDED, {"fault": fault, "hal": hal}, "inprocess")


def claimed(result: CaseResult, hal: str) -> Outcome:
    """The outcome of the case for a device that claims every operation: rejecting is a failure."""
    return claims.enforce(result, (_EVERYTHING,), Version(hal)).outcome


def reached(
    cases: Sequence[Case], names: list[str], at_once: int = CORES, tell: Callable[[str], None] = lambda line: None
) -> Reached:
    """Run every case once under each version that concerns it, in so many processes at once.

    tell: gets a line as each part of them is traced. Raises RuntimeError where a process ends early.
    """
    special = {targets.NPU: _chosen_of_npu, targets.RUNTIME: _chosen_of_runtime, targets.DRIVER: _chosen_of_driver}
    choose = next((chosen for part, chosen in special.items() if is_of(part, names)), _chosen)
    works = [_work(hal, part, names) for hal in Version for part in _parts(choose(cases, hal), at_once)]
    traced: dict[int, _Traced] = {}
    for place, answer in in_children(works, _Traced, _SECONDS, at_once):
        if isinstance(answer, Ended):
            raise RuntimeError(f"tracing the cases: {answer.reason}")
        traced[place] = answer
        tell(f"traced {len(traced)} of {len(works)} parts of the cases")
    in_order = [traced[place] for place in range(len(works))]
    at_import = frozenset(line for part in in_order for line in part.at_import)
    return Reached(_witnesses(in_order, {case.id: case for case in cases}), at_import)


def _chosen(cases: Sequence[Case], hal: Version) -> list[Case]:
    """All vectors for the newest version, some with variations; for another what it answers differently or newly."""
    if hal == NEWEST:
        return [case for case in cases if not _is_variation(case) or _is_taken(case)]
    return [case for case in cases if case.since <= hal <= case.until and _concerns(case, hal)]


def is_of(part: str, names: Sequence[str]) -> bool:
    """True where all these modules belong to the part."""
    return all(targets.part(name) == part for name in names)


def _chosen_of_npu(cases: Sequence[Case], hal: Version) -> list[Case]:
    """Everything in the public page's profile, and what concerns the manager in AOSP's as well."""
    if hal == NEWEST:
        return list(cases)
    return [case for case in cases if hal in _NPU_PROFILES and case.id.startswith("cts.npu_manager.")]


def _chosen_of_runtime(cases: Sequence[Case], hal: Version) -> list[Case]:
    """Every behaviour at some feature levels, and a few vectors at the newest: the kernels have their own mutants."""
    if hal not in _RUNTIME_LEVELS:
        return []
    legal = (case for case in cases if case.since <= hal <= case.until)
    return [case for case in legal if not case.id.startswith("cts.generated.") or _hash(case) % 40 == 0]


def _chosen_of_driver(cases: Sequence[Case], hal: Version) -> list[Case]:
    """Every behaviour under every version that has it, and a few vectors: versions differ in it, vectors hardly."""
    legal = (case for case in cases if case.since <= hal <= case.until)
    return [case for case in legal if not _is_of_operation(case) or _hash(case) % 40 == 0]


def _is_of_operation(case: Case) -> bool:
    return case.id.startswith(_VECTORS) and bool(case.operations)


def _concerns(case: Case, hal: Version) -> bool:
    return case.until < NEWEST or is_about_rules(case) or (case.since == hal and not _is_variation(case))


def is_about_rules(case: Case) -> bool:
    """True for a case that looks at one rule of the validator."""
    return case.id.startswith(_RULES)


def _is_variation(case: Case) -> bool:
    return case.id.endswith("]")


def _is_taken(case: Case) -> bool:
    """True for the variations of one vector in five: the others repeat what these show, at twice the work."""
    return _hash(case) % 5 == 0


def _hash(case: Case) -> int:
    """A hash that a vector and its variations share."""
    return zlib.crc32(case.id.partition("[")[0].encode())


def _parts(cases: list[Case], count: int) -> list[list[Case]]:
    """So many parts or more, none of them long, with a fair share of every operation in each."""
    count = max(count, -(-len(cases) // _MOST_CASES))
    return [part for part in (cases[start::count] for start in range(count)) if part]


def _work(hal: Version, cases: list[Case], names: list[str]) -> Callable[[], _Traced]:
    return lambda: _trace(hal.value, cases, names)


def _trace(hal: str, cases: list[Case], names: list[str]) -> _Traced:
    """Run the cases, and note what each reaches. Runs in a child: what tracing disturbs ends with it."""
    tracer = Tracer(names)
    at_import = tracer.at_import()
    forget = [clear for name in names for clear in code_swap.clearing(targets.load(name))]
    numbers: dict[Line, int] = {}
    reached: list[_Reach] = []

    def look(result: CaseResult) -> bool:
        lines = sorted(numbers.setdefault(line, len(numbers)) for line in tracer.stop() | created)
        if result.outcome is Outcome.PASS or result.outcome is Outcome.NOT_SUPPORTED:
            warned = Disposition.QUALITY_WARNING in result.dispositions
            reached.append(_Reach(result.case, lines, claimed(result, hal) is Outcome.PASS, warned))
        for clear in forget:
            # A cache filled by an earlier case would hide that this one needs its content too.
            clear()
        tracer.start()
        return False

    tracer.start()
    subject = open_reference(hal, cases)
    # What runs when objects are made that are made once, for all cases; a device's are made at each call.
    created = tracer.stop() if is_of(targets.NPU, names) or is_of(targets.RUNTIME, names) else set()
    tracer.start()
    run_cases(subject, cases, look)
    tracer.stop()
    subject.close()
    return _Traced(hal, list(numbers), reached, sorted(at_import))


def _witnesses(traced: Sequence[_Traced], cases: dict[str, Case]) -> dict[Line, list[Witness]]:
    """Order by how little a case reaches: it says more about that. Never by time: samples have to be repeatable."""
    ranked = [
        (
            _is_variation(cases[reach.case]),
            len(reach.lines),
            part.hal,
            reach.case,
            reach.passed,
            reach.warned,
            part.lines,
            reach.lines,
        )
        for part in traced
        for reach in part.reached
    ]
    found: dict[Line, list[Witness]] = {}
    for _, _, hal, case, passed, warned, lines, numbers in sorted(ranked, key=lambda one: one[:4]):
        witness = Witness(cases[case], hal, passed, warned)
        for number in numbers:
            found.setdefault(lines[number], []).append(witness)
    return found


def spread(witnesses: list[Witness]) -> list[Witness]:
    """Rules first; then in turn one of each operation and version, of the refused and of the others."""
    rules = [witness for witness in witnesses if is_about_rules(witness.case)]
    others = [witness for witness in witnesses if not is_about_rules(witness.case)]
    return rules + _in_turn(others, lambda one: (one.case.operations, one.hal, one.case.group))


def spread_areas(witnesses: list[Witness]) -> list[Witness]:
    """The newest version's first, which has nearly all that the others have: in turn one of each area of the suite."""
    newest = [witness for witness in witnesses if Version(witness.hal) == NEWEST]
    older = [witness for witness in witnesses if Version(witness.hal) != NEWEST]
    return [
        witness
        for some in (newest, older)
        for witness in _in_turn(some, lambda one: (one.case.id.split(".")[1], one.hal))
    ]


def _in_turn(witnesses: Sequence[Witness], kind_of: Callable[[Witness], object]) -> list[Witness]:
    kinds: dict[object, list[Witness]] = {}
    for witness in witnesses:
        kinds.setdefault(kind_of(witness), []).append(witness)
    turns = range(max(map(len, kinds.values()), default=0))
    return [kind[place] for place in turns for kind in kinds.values() if place < len(kind)]
