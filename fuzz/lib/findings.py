"""What a fuzzer may find: a closed set of kinds, and what makes two findings the same."""

from __future__ import annotations

import contextlib
import re
from typing import Literal, get_args

from npu_conformance.harness.judge.origin import is_of_plugin
from npu_conformance.harness.judge.verdicts import CaseEnded, Crashed, Failed, Hung, Refused
from npu_conformance.specs import requirements
from npu_conformance.specs.diagnostics import stacks
from npu_conformance.specs.diagnostics.one_line import one_line

Kind = Literal[
    "crash", "hang", "memory", "leak", "invalid-accepted", "valid-refused", "wrong-result", "wrong-status",
    "harness-defect",
]  # fmt: skip
"""memory: more was asked for than the limit allows. leak: descriptors, threads, processes or shared memory remain.

invalid-accepted, valid-refused: against the contract's validator. wrong-result: numbers beyond the bounds.
wrong-status: any other answer that the interface does not have. harness-defect: a mistake of this suite.
"""

KINDS: tuple[Kind, ...] = get_args(Kind)
DEFECT: Kind = "harness-defect"

_CLASS = re.compile(r".*?breaks [A-Z0-9_.]+|[^:]*(?:: raised \w+)?")
_CLAUSE_OF_OPERATION = re.compile(r"[A-Z0-9_]+\.C\d+")
_NUMBER = re.compile(r"\d+")
_STATUS = re.compile(r"[A-Z][A-Z_]+|status -?\d+")
"""A status as `found` of a verdict says it."""
_REMOTE = re.compile(r"(?:: raised |answered with error -?\d+: (?:\S+:\d+ in \S+: )?)(\w+)(?=:| at )")
"""The kind of exception in what another process has answered."""
UNREPEATED = "(it did not come back)"
"""In the message of a finding whose input did not fail a second time."""
TIMES_GREEN = 3
"""So often the input of a known finding has to pass before what is met by its name is held to be another one."""
BEHIND_OTHERS = "behind others"
"""Ends the place of a finding whose input fails only behind others."""


class Found(Failed):
    """A finding that knows its kind. where: a clause, an operation, a place in code; findings of one place are one."""

    def __init__(self, kind: Kind, message: str, where: str = "") -> None:
        self.kind = kind
        self.where = where
        self.about = _requirements_of(where)
        super().__init__(message)


def raised(what: str, error: Exception, rule: str) -> Found:
    """The finding that a call has raised what no interface has. what: the call. rule: behind what it says."""
    told = stacks.of_exception(error)
    name, place, cause = type(error).__name__, stacks.place(told), stacks.cause(told)
    message = f"{what}: raised {name}{_at(place)}: {error}, {rule}"
    where = f"{what}: raised {name}{_at(cause)}"
    return Found("memory" if isinstance(error, MemoryError) else "wrong-status", message, where)


def _requirements_of(where: str) -> tuple[str, ...]:
    """The requirement that breaks at a place, none where the place does not say it.

    A rule of models or requests has none of its own: its violation is to be answered (NNHAL-ERROR-005). Of an operation
    it is that its results are right.
    """
    name = where.partition(" ")[0]
    if name.startswith(("MODEL.", "REQUEST.")):
        return ("NNHAL-ERROR-005",)
    name = requirements.clause_requirement(name) if _CLAUSE_OF_OPERATION.fullmatch(name) else name
    for tried in (name, requirements.result_requirement(name)):
        with contextlib.suppress(LookupError):
            return (requirements.requirement(tried).id,)
    return ()


class Defect(Exception):
    """A mistake of this suite, which is no failure of what is tested. where: as of Found."""

    def __init__(self, message: str, where: str) -> None:
        self.where = where
        super().__init__(message)


def kind_of(ended: BaseException) -> Kind:
    """The kind of what a target raised; anything but the end of a case is a mistake of this suite."""
    if isinstance(ended, Found):
        return ended.kind
    if isinstance(ended, Crashed):
        return "crash"
    if isinstance(ended, Hung):
        return "hang"
    if not isinstance(ended, CaseEnded) and not is_of_plugin(ended):
        return DEFECT
    return "memory" if isinstance(ended, MemoryError) or "MemoryError" in str(ended) else "wrong-status"


def where_of(ended: BaseException) -> str:
    """What is the same in findings of one cause: its place, or the method with the rule or the exception; one line."""
    return one_line(_where(ended))


def _where(ended: BaseException) -> str:
    if isinstance(ended, Found | Defect) and ended.where:
        return ended.where
    if isinstance(ended, Crashed) and ended.cause:
        return ended.cause
    if not isinstance(ended, CaseEnded):
        cause = stacks.cause(stacks.of_exception(ended)) if is_of_plugin(ended) else ""
        return type(ended).__name__ + (_at(cause) or f" in {_innermost(ended)}")
    said = str(ended).partition(": raised ")[0] if isinstance(ended, Refused) else str(ended)
    match = _CLASS.match(said)
    return _NUMBER.sub("N", match.group() if match else said).strip() + _how(ended)


def _at(place: str) -> str:
    return f" at {place}" if place else ""


def _how(ended: CaseEnded) -> str:
    """What tells findings of one method apart: the status that was found, or what another process has raised."""
    if isinstance(ended, Refused):
        kind, cause = _REMOTE.search(str(ended)), stacks.cause(ended.traceback)
        return f": raised {kind[1] if kind else f'error {ended.code}'}{_at(cause)}"
    if isinstance(ended, Failed) and _STATUS.fullmatch(ended.found) and ended.found != "INVALID_ARGUMENT":
        return f": found {ended.found}"
    return ""


def comes_back(where: str, message: str) -> bool:
    """Whether the input of a finding fails each time, alone: only then does it tell anything that it passes."""
    return not where.endswith(BEHIND_OTHERS) and UNREPEATED not in message


def signature(ended: BaseException) -> str:
    """Kind and place: findings with the same signature are counted as one."""
    return f"{kind_of(ended)}: {where_of(ended)}"


def _innermost(error: BaseException) -> str:
    """The function in which an exception was raised."""
    trace = error.__traceback__
    if trace is None:
        return "nowhere"
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_globals.get('__name__', '?')}.{trace.tb_frame.f_code.co_name}"
