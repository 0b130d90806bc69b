"""What a fuzzer may find: a closed set of kinds, and what makes two findings the same."""

from __future__ import annotations

import re
from typing import Literal, get_args

from npu_conformance.harness.judge.verdicts import CaseEnded, Crashed, Failed, Hung
from npu_conformance.specs import requirements
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


class Found(Failed):
    """A finding that knows its kind. where: a clause, an operation, a place in code; findings of one place are one."""

    def __init__(self, kind: Kind, message: str, where: str = "") -> None:
        self.kind = kind
        self.where = where
        self.about = _requirements_of(where)
        super().__init__(message)


def _requirements_of(where: str) -> tuple[str, ...]:
    """The requirement that breaks at a place, none where the place does not say it.

    A rule of models or requests has none of its own: its violation is to be answered (NNHAL-ERROR-005).
    """
    name = where.partition(" ")[0]
    if name.startswith(("MODEL.", "REQUEST.")):
        return ("NNHAL-ERROR-005",)
    name = requirements.clause_requirement(name) if _CLAUSE_OF_OPERATION.fullmatch(name) else name
    try:
        return (requirements.requirement(name).id,)
    except LookupError:
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
    if not isinstance(ended, CaseEnded):
        return DEFECT
    return "memory" if "MemoryError" in str(ended) else "wrong-status"


def where_of(ended: BaseException) -> str:
    """What is the same in findings of one cause: its place, or the method with the rule or the exception; one line."""
    return one_line(_where(ended))


def _where(ended: BaseException) -> str:
    if isinstance(ended, Found | Defect) and ended.where:
        return ended.where
    if isinstance(ended, Crashed) and ended.cause:
        return ended.cause
    if not isinstance(ended, CaseEnded):
        return f"{type(ended).__name__} in {_innermost(ended)}"
    match = _CLASS.match(str(ended))
    return _NUMBER.sub("N", match.group() if match else str(ended)).strip()


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
