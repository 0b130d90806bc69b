"""Runs faults and conforming variants against the suites, each in a process of its own, and notes who detects them."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from npu_conformance.faults import plugin, self_checks, source_edits
from npu_conformance.faults.fault import EditedHarness, Fault, FaultySubject, Hostile, Variant
from npu_conformance.harness.judge.outcome_table import WAIVABLE, is_red
from npu_conformance.harness.judge.waivers import glob
from npu_conformance.harness.run import random_search, suites
from npu_conformance.harness.run.applicability import inapplicable
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.engine import Engine, EngineOptions
from npu_conformance.harness.run.replay import Discard
from npu_conformance.harness.run.selection import in_scope
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import Isolation, open_subject
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.forked import Ended, in_child
from npu_conformance.specs.outcomes import Disposition, Outcome

PLUGIN = f"{plugin.__name__}:plugin"
GUARDED = f"{plugin.__name__}:guarded"
_NUMBER = re.compile(r"\d+(\.\d+)?")
SECONDS, _SECONDS_A_CASE = 300.0, 0.2
"""How long one fault may take, at least, and more where there are many cases: only a hang is to end it."""


class Row(msgspec.Struct, frozen=True):
    """The result of one fault. noticed: cases that detected it, in order. missed: globs of which no case did.

    wrong: cases that are red though only a quality warning is due, or in another way than the fault has to be; a bug of
    the suite is never due.
    problem: why the fault could not be judged.
    """

    fault: str
    breaks: tuple[str, ...]
    cases: int = 0
    noticed: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    seconds: float = 0.0
    problem: str = ""

    @property
    def is_caught(self) -> bool:
        """True where every glob has a case that detected the fault, in the way that is due."""
        return bool(self.noticed) and not (self.missed or self.wrong or self.problem)


class VariantRow(msgspec.Struct, frozen=True):
    """The result of one variant. red: cases with a message each."""

    variant: str
    cases: int = 0
    passed: int = 0
    red: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    problem: str = ""

    @property
    def is_green(self) -> bool:
        """True where something passed and nothing is red."""
        return self.passed > 0 and not (self.red or self.problem)

    @property
    def says_nothing(self) -> bool:
        """True where nothing passed and nothing is red: the variant has nothing of what the cases need."""
        return not (self.passed or self.red or self.problem)


def all_cases() -> list[Case]:
    """Every case that a fault can name: the suites' in the default scope, and the self-checks."""
    found = [case for case in suites.cases(("vts", "cts", "mlts")) if in_scope(case, Scope.DEFAULT)]
    return [*found, *self_checks.cases()]


def expected_cases(fault: Fault, cases: Iterable[Case]) -> list[Case]:
    """The cases that the fault names."""
    patterns = [glob(text) for text in fault.caught_by]
    return [case for case in cases if any(pattern.fullmatch(case.id) for pattern in patterns)]


def run_fault(fault: Fault, cases: Sequence[Case], *, every_case: bool = False, stop_at_first: bool = False) -> Row:
    """Run a fault against the cases it names, or against every one that applies, to the first that notices it."""
    chosen = _of_its_kind(fault, cases) if every_case else expected_cases(fault, cases)
    if not chosen:
        return Row(fault.id, fault.breaks, missed=fault.caught_by, problem="it names no case that exists")
    return run_fault_against(fault, chosen, stop_at_first=stop_at_first)


def run_fault_against(fault: Fault, chosen: Sequence[Case], *, stop_at_first: bool = False) -> Row:
    """Run a fault against these cases; where none of them applies, nothing has noticed it."""
    blank = Row(fault.id, fault.breaks, len(chosen))
    plugin.known()  # here, or each child would read all tables of faults
    started = time.perf_counter()
    answer = in_child(lambda: _noticing(fault, chosen, stop_at_first), _Noticed, _patience(chosen))
    seconds = time.perf_counter() - started
    if isinstance(answer, Ended):
        return msgspec.structs.replace(blank, seconds=seconds, problem=answer.reason)
    if answer.warned:
        said = in_child(lambda: _warnings_of_the_reference(fault, chosen, answer.warned), dict[str, list[str]], SECONDS)
        if isinstance(said, Ended):
            return msgspec.structs.replace(blank, seconds=seconds, problem=f"the reference beside it: {said.reason}")
        answer.noticed = [case for case in answer.noticed if not _says_no_more(answer.warned, said, case)]
    noticed, wrong = tuple(answer.noticed), tuple(answer.wrong)
    missed = tuple(text for text in fault.caught_by if not any(map(glob(text).fullmatch, noticed)))
    return msgspec.structs.replace(
        blank, noticed=noticed, wrong=wrong, missed=() if stop_at_first and noticed else missed, seconds=seconds
    )


def run_variant(variant: Variant, cases: Sequence[Case], isolation: Isolation = "inprocess") -> VariantRow:
    """Run a conforming variant against the suites' cases. isolation: where it lives."""
    chosen = [case for case in cases if case.id.startswith(("vts.", "cts.", "mlts."))]
    plugin.known()
    started = time.perf_counter()
    answer = in_child(lambda: _greens(variant, chosen, isolation), VariantRow, _patience(chosen))
    seconds = time.perf_counter() - started
    if isinstance(answer, Ended):
        return VariantRow(variant.id, len(chosen), seconds=seconds, problem=answer.reason)
    return msgspec.structs.replace(answer, seconds=seconds)


def _patience(cases: Sequence[Case]) -> float:
    return max(SECONDS, _SECONDS_A_CASE * len(cases))


def verdict(fault: Fault, case: Case) -> CaseResult:
    """What one case says of a fault, in a process of its own. Raises RuntimeError where that process ended early."""
    found: list[CaseResult] = []

    def look(result: CaseResult) -> bool:
        found.append(result)
        return True

    def run() -> CaseResult:
        subject = _open(fault)
        try:
            run_cases(subject, [case], look)
        finally:
            subject.close()
        return found[0]

    answer = in_child(run, CaseResult, SECONDS)
    if isinstance(answer, Ended):
        raise RuntimeError(f"{fault.id}: {answer.reason}")
    return answer


class _Noticed(msgspec.Struct):
    """warned: what each case that warned has said, where a warning is due."""

    noticed: list[str] = []
    wrong: list[str] = []
    warned: dict[str, list[str]] = {}


def _warnings(result: CaseResult) -> list[str]:
    """The warnings of a case and of its configurations; numbers, which may be times, do not count."""
    said = [*result.warnings, *(warning for part in result.configurations for warning in part.warnings)]
    return sorted({_NUMBER.sub("#", warning) for warning in said})


def _warnings_of_the_reference(fault: Fault, cases: Sequence[Case], warned: Collection[str]) -> dict[str, list[str]]:
    """What the cases that warn with a fault say of the reference, which has none."""
    said: dict[str, list[str]] = {}

    def look(result: CaseResult) -> bool:
        said[result.case] = _warnings(result)
        return False

    subject = open_subject("reference", {"hal": fault.hal.value}, "inprocess")
    try:
        run_cases(subject, [case for case in cases if case.id in warned], look)
    finally:
        subject.close()
    return said


def _says_no_more(warned: Mapping[str, Sequence[str]], without_a_fault: Mapping[str, Sequence[str]], case: str) -> bool:
    """True for a case whose warnings are due to no fault: the reference has each of them, too."""
    return case in warned and set(warned[case]) <= set(without_a_fault.get(case, ()))


def _of_its_kind(fault: Fault, cases: Sequence[Case]) -> list[Case]:
    """The cases that judge what the fault is in."""
    if isinstance(fault.mechanism, EditedHarness):
        return [case for case in cases if case.id.startswith("self.")]
    interfaces = fault.mechanism.interfaces if isinstance(fault.mechanism, FaultySubject) else ("device",)
    return [case for case in cases if not case.id.startswith("self.") and case.interface in interfaces]


def _noticing(fault: Fault, cases: Sequence[Case], stop_at_first: bool) -> _Noticed:
    if isinstance(fault.mechanism, EditedHarness):
        source_edits.apply(fault.mechanism.edits)
        return _Noticed([case.id for case in cases if _self_check_fails(case)])
    found = _Noticed()

    def look(result: CaseResult) -> bool:
        _note(fault, result, found)
        # The reference may warn as well, so that the first warning need not be due to the fault.
        return stop_at_first and fault.detected_as == "red" and bool(found.noticed)

    random_search.most_replays = 0  # in this child; to cut one failure down takes up to a hundred seconds
    subject = _open(fault)
    try:
        run_cases(subject, cases, look)
    finally:
        subject.close()
    return found


def _note(fault: Fault, result: CaseResult, found: _Noticed) -> None:
    """Note what a verdict says of the fault."""
    warning_due = fault.detected_as == "quality-warning"
    # What a waiver could excuse is what an implementation does: no bug of the suite, and nothing that was not run.
    red = is_red(result.outcome, result.dispositions) and result.outcome is not Outcome.NOT_RUN
    if red and (warning_due or result.outcome not in WAIVABLE or not _ends_as(fault, result)):
        found.wrong.append(result.case)
    elif red:
        found.noticed.append(result.case)
    elif warning_due and Disposition.QUALITY_WARNING in result.dispositions:
        found.noticed.append(result.case)
        found.warned[result.case] = _warnings(result)


def _ends_as(fault: Fault, result: CaseResult) -> bool:
    """True where the case, or one of its configurations, ended as the fault has to."""
    outcomes = [result.outcome, *(part.outcome for part in result.configurations)]
    return fault.ends_as is None or fault.ends_as in outcomes


def _self_check_fails(case: Case) -> bool:
    """A self-check looks at nothing of the harness that runs it, so it needs no context; any exception is a finding."""
    try:
        case.run(None)  # type: ignore[arg-type]
    except Exception:
        return True
    return False


def is_asked(variant: Variant, cases: Iterable[Case]) -> bool:
    """True where a case applies to the variant, by its interfaces and its version."""
    from npu_conformance.faults.plugin import manifest

    said = manifest({"fault": variant.id})
    return any(not inapplicable(case, said, said.hal_version) for case in cases)


def _greens(variant: Variant, cases: Sequence[Case], isolation: Isolation) -> VariantRow:
    red: list[tuple[str, str]] = []
    passed = 0

    def look(result: CaseResult) -> bool:
        nonlocal passed
        passed += result.outcome.value == "pass"
        if is_red(result.outcome, result.dispositions):
            parts = (part.message for part in result.configurations if is_red(part.outcome, part.dispositions))
            red.append((result.case, result.message or next(parts, "")))
        return False

    subject = _open(variant, isolation)
    try:
        run_cases(subject, cases, look)
    finally:
        subject.close()
    return VariantRow(variant.id, len(cases), passed, tuple(red))


def _open(chosen: Fault | Variant, isolation: Isolation = "inprocess") -> SubjectHandle:
    if isinstance(chosen.mechanism, Hostile):
        module = "npu_conformance.faults.hosts.hostile"
        return open_subject(f"exec:{sys.executable} -m {module} {chosen.mechanism.behaviour}")
    if isinstance(chosen, Fault) and chosen.hangs:
        isolation = "process"
    spec = GUARDED if isolation == "inprocess" else PLUGIN
    return open_subject(spec, {"fault": chosen.id}, isolation)


def run_cases(subject: SubjectHandle, cases: Sequence[Case], look: Callable[[CaseResult], bool]) -> None:
    """Run the cases that apply; `look` sees each verdict and returns true to stop."""
    applicable = [case for case in cases if not inapplicable(case, subject.manifest, subject.version)]
    engine = Engine(applicable, subject, Discard(), EngineOptions())
    engine.begin()
    for case in applicable:
        if look(engine.run_case(case)):
            break
