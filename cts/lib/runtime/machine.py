"""A runtime driven step by step beside the model of its API: each call has to return what the model says.

A step names objects by their number among the living ones of their kind; a number behind the last stands for null, so
that a sequence stays a sequence when steps are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec

from npu_conformance.cts.lib.runtime.api_model import (
    CompilationState,
    DescriptorState,
    ExecutionState,
    MemoryState,
    ModelState,
)
from npu_conformance.cts.lib.runtime.fixture import RuntimeApp, result_of
from npu_conformance.cts.lib.runtime.misuse import judge_handle
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL

State = TypeVar("State")
Code = ResultCode | None
Rule = Callable[[], Code]
"""Says what a call has to return, and brings the model into the state behind it; None where the API leaves it open."""


class Step(msgspec.Struct, frozen=True):
    """One call. object, second: numbers of objects. value: picks the rest of the arguments."""

    call: str
    object: int = 0
    second: int = 0
    value: int = 0


@dataclass
class Living(Generic[State]):
    """An object that was made. used: others refer to it, so that it must not be freed before them."""

    handle: int
    state: State
    used: bool = False


@dataclass
class Kind(Generic[State]):
    """The living objects of one kind, in order of making."""

    living: list[Living[State]] = field(default_factory=list)

    def find(self, number: int) -> Living[State] | None:
        """The object of a number; None stands for null."""
        return self.living[number] if 0 <= number < len(self.living) else None


def handle_of(found: Living[Any] | None) -> int:
    """The handle of an object."""
    return NULL if found is None else found.handle


def on(found: Living[State] | None, rule: Callable[[State], Code]) -> Rule:
    """What a call on an object has to return: UNEXPECTED_NULL where there is none."""
    return lambda: ResultCode.UNEXPECTED_NULL if found is None else rule(found.state)


_MAY_DECLINE = {"memory_create_from_desc"}
"""Functions of which a legal call may fail with OP_FAILED: no device has to have memory (FW-MEM-008, FW-MEM-009)."""


class ApiMachine:
    """The runtime and the model. calls: those made so far, as text."""

    def __init__(self, app: RuntimeApp) -> None:
        self.app = app
        self.calls: list[str] = []
        self.models: Kind[ModelState] = Kind()
        self.compilations: Kind[CompilationState] = Kind()
        self.executions: Kind[ExecutionState] = Kind()
        self.bursts: Kind[CompilationState] = Kind()
        self.events: Kind[ExecutionState] = Kind()
        self.descriptors: Kind[DescriptorState] = Kind()
        self.memories: Kind[MemoryState] = Kind()
        self.room = app.memory.room(64)

    def call(self, function: str, rule: Rule, *arguments: Any) -> Any:
        """Call a function and judge it; the answer, or None where the level does not have it or the code is open."""
        mark = describe(Runtime)[function].mark
        if mark.since > self.app.level or not self.app.has(function):
            return None
        code = rule()
        if code is None:
            return None
        named = dict(zip((name for name, _ in describe(Runtime)[function].parameters), arguments, strict=True))
        self.calls.append(f"{function}({', '.join(f'{name}={value!r}' for name, value in named.items())})")
        answer = self.app.call(function, *arguments)
        if code == ResultCode.NO_ERROR and function in _MAY_DECLINE and result_of(answer) == ResultCode.OP_FAILED:
            code = ResultCode.OP_FAILED
        self.app.expect(f"call {len(self.calls)}, {function}", result_of(answer), code)
        judge_handle(function, code, named, answer)
        return answer

    def make(
        self, kind: Kind[State], state: Callable[[], State], function: str, rule: Rule, *arguments: Any
    ) -> Living[State] | None:
        """Call a function that makes an object; returns the object, None where it was refused."""
        answer = self.call(function, rule, *arguments)
        if answer is None or answer.result != ResultCode.NO_ERROR:
            return None
        made = Living(self.app.owns(function, answer.handle), state())
        kind.living.append(made)
        return made

    def free(self, kind: Kind[Any], number: int) -> None:
        """Free an object that nothing refers to."""
        found = kind.find(number)
        if found is not None and not found.used:
            self.calls.append(f"free({found.handle})")
            self.app.free(found.handle)
            kind.living.remove(found)
