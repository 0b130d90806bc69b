"""The grades of `npu-conformance check`: how far an adapter has come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.interfaces import NOT_IMPLEMENTED
from npu_conformance.specs.outcomes import Outcome

_QUERIES = "vts.queries."
FIRST_CALLS = (
    _QUERIES,
    "vts.npu_scheduling.",
    "cts.npu_manager.lifecycle.",
    "cts.npu_manager.request.",
    "cts.misuse.get_device",
    "cts.misuse.device_",
)
"""Where the ids of the cases begin that call each interface for the first time."""
EXECUTIONS, RUNTIME_EXECUTIONS = "vts.generated.", "cts.generated."
GRADES = {
    "A": "everything that was tried passes, and each interface has done work",
    "B": "each interface has done work, but something is wrong",
    "C": "the first calls pass, but no work was seen",
    "D": "the handshake works, but some first calls do not",
    "E": "the handshake works, but nothing else was seen to work",
}
"""What each letter means, the best first."""
_NEXT = {"A": "run the suites", "B": "see the failures", "D": "see the failures"}


@dataclass(frozen=True)
class _Work:
    """What shows that an interface does its work: a passing case of these. next: what to do where there is none."""

    cases: tuple[str, ...]
    next: str


_WORK = {
    "device": _Work(
        (EXECUTIONS, "vts.extension."), "let the driver support ADD or RELU, which are tried here, and execute it"
    ),
    "scheduling": _Work(
        ("vts.npu_scheduling.work.",),
        "give the plug-in a workload interface, or --inference-tool, and report the work",
    ),
    "manager": _Work(
        ("cts.npu_manager.lifecycle.",),
        "give the plug-in a manager_control that lets an app come and go, and grant a model",
    ),
    "runtime": _Work((RUNTIME_EXECUTIONS,), "let the runtime compile a model, and compute"),
}


def letter_of(interfaces: Collection[str], verdicts: Sequence[CaseResult]) -> str:
    """Return the grade of what these interfaces made of the cases."""
    red = [case for case in verdicts if is_red(case.outcome, case.dispositions)]
    if not any(case.outcome is Outcome.PASS for case in verdicts):
        return "E"
    if any(case.case.startswith(FIRST_CALLS) for case in red) or any(map(_lacks_a_query, verdicts)):
        return "D"
    if _idle(interfaces, verdicts):
        return "C"
    return "B" if red else "A"


def _lacks_a_query(case: CaseResult) -> bool:
    """True where a query of a device found no such method."""
    lacks = case.outcome is Outcome.NOT_SUPPORTED and NOT_IMPLEMENTED in case.message
    return lacks and case.case.startswith(_QUERIES)


def meaning_of(letter: str, interfaces: Collection[str], verdicts: Sequence[CaseResult]) -> str:
    """Return what a grade means, and what to do next: what is red comes before what is missing."""
    is_any_red = any(is_red(case.outcome, case.dispositions) for case in verdicts)
    if letter == "E" and is_any_red:
        return f"{GRADES[letter]}: see the failures"
    if letter == "D" and not is_any_red:
        return f"{GRADES[letter]}: implement the methods that are missing"
    idle = dict.fromkeys(_next(interface, verdicts) for interface in _idle(interfaces, verdicts))
    following = "; ".join(idle) if letter in ("C", "E") else _NEXT[letter]
    return f"{GRADES[letter]}{': ' if following else ''}{following}"


def _next(interface: str, verdicts: Sequence[CaseResult]) -> str:
    """What to do so that an interface does work: look at what is red of its work, else implement the method that most
    of its cases miss, where one is missed.

    A device that executes nothing yet does not have most of them, and begins with an operation.
    """
    work = [case for case in verdicts if case.case.startswith(_WORK[interface].cases)]
    if any(is_red(case.outcome, case.dispositions) for case in work):
        return "see the failures"
    told = (case.message for case in verdicts if case.interface == interface and case.outcome is Outcome.NOT_SUPPORTED)
    missing = Counter(message for message in told if message.endswith(NOT_IMPLEMENTED))
    if interface == "device" or not missing:
        return _WORK[interface].next
    ((message, count),) = missing.most_common(1)
    return f"implement {message.removesuffix(NOT_IMPLEMENTED).strip()}, which {counted(count, 'case')} tried in vain"


def _idle(interfaces: Collection[str], verdicts: Sequence[CaseResult]) -> list[str]:
    """The interfaces that have done no work that a case could see."""
    passed = [case.case for case in verdicts if case.outcome is Outcome.PASS]
    return [
        interface
        for interface, work in _WORK.items()
        if interface in interfaces and not any(name.startswith(work.cases) for name in passed)
    ]
