"""A runtime driven step by step beside the model of its API: each call has to return what the model says.

A step names objects by their number among the living ones of their kind; a number after the last stands for null, so
that a sequence stays a sequence when steps are left out; NEWEST is the one that was made last, NEWEST - 1 the one
before it. Where the runtime promises to check handles, FREED stands for an object that was freed, and FOREIGN for one
of another kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from npu_conformance.harness.judge.api_executions import ExecutionState, MemoryState
from npu_conformance.harness.judge.api_handles import judge_handle
from npu_conformance.harness.judge.api_model import (
    NO_MEMORY,
    OK,
    Code,
    CompilationState,
    DescriptorState,
    ModelState,
    Required,
    bad_data,
    null,
)
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.nnapi.app import result_of
from npu_conformance.harness.nnapi.caller_memory import PooledMemory, place
from npu_conformance.harness.nnapi.machine_told import Watched
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL, Pointer
from npu_conformance.specs.versions import Version

State = TypeVar("State")
Rule = Callable[[], Code]
"""Says what a call has to return, and brings the model into the state behind it; None where the API leaves it open."""
FREED, FOREIGN = -1, -2
NEWEST = 1000
_RECENT = 100
_ROOM = 64


class MachineApp(Protocol):
    """What the machine needs of the app that calls. level: of the runtime. memory: the app's own."""

    level: Version
    memory: PooledMemory

    def has(self, function: str) -> bool:
        """Whether the runtime has a function."""
        ...

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a function."""
        ...

    def judge_call(self, number: int, function: str, required: Required, result: int) -> None:
        """Raise unless the call of a number has returned what is required."""
        ...

    def owns(self, function: str, handle: int) -> int:
        """Free an object that a function has made at the end."""
        ...

    def free(self, handle: int) -> None:
        """Free an object now."""
        ...

    def close(self) -> None:
        """Free everything."""
        ...

    def cpu(self) -> int:
        """The runtime's own CPU, or another device that the app names."""
        ...

    def pool(self, size: int) -> Pool:
        """Memory for a memory object: all zeros."""
        ...

    def cache_folder(self) -> str:
        """Where compilations may be cached."""
        ...

    @property
    def checks_handles(self) -> bool:
        """Whether the runtime promises to check them."""
        ...


class WrongValue(Failed):
    """What a legal call has computed or told is wrong."""


class Step(msgspec.Struct, frozen=True):
    """One call. object, second: numbers of objects. value: picks the rest of the arguments."""

    call: str
    object: int = 0
    second: int = 0
    value: int = 0


@dataclass(eq=False)
class Living(Generic[State]):
    """An object that was made. users: how many living objects refer to it, so that it must not be freed before them.

    uses: those it refers to. place: where an execution's output or a memory's bytes are. is_lost: it is none any more,
    or of another kind.
    """

    handle: int
    state: State
    users: int = 0
    uses: list[Living[Any]] = field(default_factory=list)
    place: Any = None
    is_lost: bool = False

    def use(self, *others: Living[Any] | None) -> None:
        """It refers to others."""
        for other in others:
            if other is not None and all(known is not other for known in self.uses):
                other.users += 1
                self.uses.append(other)


@dataclass
class Kind(Generic[State]):
    """The living objects of one kind, in order of making. freed, others: what FREED and FOREIGN stand for."""

    living: list[Living[State]] = field(default_factory=list)
    freed: Living[State] | None = None
    others: Callable[[], list[Living[Any]]] = list
    checks_handles: bool = False

    def find(self, number: int) -> Living[State] | None:
        """The object of a number; None stands for null."""
        if self.checks_handles and number == FREED:
            return self.freed
        if self.checks_handles and number == FOREIGN:
            return next((Living(other.handle, other.state, is_lost=True) for other in self.others()), None)
        if NEWEST - _RECENT < number <= NEWEST:
            number += len(self.living) - 1 - NEWEST
        return self.living[number] if 0 <= number < len(self.living) else None


def handle_of(found: Living[Any] | None) -> int:
    """The handle of an object."""
    return NULL if found is None else found.handle


def on(found: Living[State] | None, rule: Callable[[State], Code]) -> Rule:
    """What a call on an object has to return: UNEXPECTED_NULL where there is none."""
    return on_all((found,), lambda: rule(_state_of(found)))


def on_all(found: tuple[Living[Any] | None, ...], rule: Rule) -> Rule:
    """What a call on several objects has to return. Of a null and a lost handle it is open which one is told."""
    if any(one is not None and one.is_lost for one in found):
        return lambda: None if None in found else bad_data("FUZ-011")
    return lambda: null() if None in found else rule()


def _state_of(found: Living[State] | None) -> State:
    assert found is not None, "judged before"
    return found.state


_MAY_DECLINE = {"memory_create_from_desc"}
"""Functions of which a legal call may fail: no device has to have memory, or room for more (FW-MEM-008, FW-MEM-009)."""


def _or_declined(required: Required, result: int) -> Required:
    """What a call has to return that fails, or may fail, for lack of memory, where it returned this."""
    if required.code not in (ResultCode.NO_ERROR, *NO_MEMORY) or result == ResultCode.NO_ERROR:
        return required
    declined = Required(NO_MEMORY[0], others=NO_MEMORY[1:])
    return declined if required.code == ResultCode.NO_ERROR else required._replace(others=NO_MEMORY[1:])


class ApiMachine:
    """The runtime and the model. calls: those made so far, as text. watched: the one driver, where there is one.

    failure: how each computation of a compilation for the named driver ends, where that driver fails.
    """

    def __init__(self, app: MachineApp, watched: Watched | None = None, failure: Required | None = None) -> None:
        self.app, self.watched, self.failure = app, watched, failure
        self.calls: list[str] = []
        self.models: Kind[ModelState] = Kind()
        self.compilations: Kind[CompilationState] = Kind()
        self.executions: Kind[ExecutionState] = Kind()
        self.bursts: Kind[CompilationState] = Kind()
        self.events: Kind[ExecutionState] = Kind()
        self.descriptors: Kind[DescriptorState] = Kind()
        self.memories: Kind[MemoryState] = Kind()
        for kind in self._kinds():
            kind.checks_handles = app.checks_handles
            kind.others = self.compilations_alive if kind is self.models else self.models_alive
        self.room = app.memory.room(_ROOM)
        self._values: dict[bytes, Pointer] = {}

    def _kinds(self) -> tuple[Kind[Any], ...]:
        return (
            self.models, self.compilations, self.executions, self.bursts, self.events, self.descriptors, self.memories,
        )  # fmt: skip

    def models_alive(self) -> list[Living[Any]]:
        """All models."""
        return list[Living[Any]](self.models.living)

    def compilations_alive(self) -> list[Living[Any]]:
        """All compilations."""
        return list[Living[Any]](self.compilations.living)

    def value(self, data: bytes) -> Pointer:
        """Where bytes are that no call changes; the room behind them may be read, too."""
        if data not in self._values:
            self._values[data] = place(self.app.memory, data.ljust(_ROOM, b"\0"))
        return self._values[data]

    def reaches(self, function: str) -> bool:
        """Whether the feature level has a function, and the runtime itself."""
        return describe(Runtime)[function].mark.since <= self.app.level and self.app.has(function)

    def call(self, function: str, rule: Rule, *arguments: Any) -> Any:
        """Call a function and judge it; the answer, or None where the level does not have it or the code is open."""
        if not self.reaches(function):
            return None
        required = rule()
        if required is None:
            return None
        named = dict(zip((name for name, _ in describe(Runtime)[function].parameters), arguments, strict=True))
        self.calls.append(f"{function}({', '.join(f'{name}={value!r}' for name, value in named.items())})")
        answer = self.app.call(function, *arguments)
        if function in _MAY_DECLINE:
            required = _or_declined(required, result_of(answer))
        self.app.judge_call(len(self.calls), function, required, result_of(answer))
        judge_handle(function, required.code, named, answer)
        return answer

    def make(
        self,
        kind: Kind[State],
        state: Callable[[], State],
        function: str,
        rule: Rule,
        *arguments: Any,
        uses: tuple[Living[Any] | None, ...] = (),
    ) -> Living[State] | None:
        """Call a function that makes an object; returns the object, None where it was refused.

        uses: what must not be freed before it.
        """
        answer = self.call(function, rule, *arguments)
        if answer is None or answer.result != ResultCode.NO_ERROR:
            return None
        self.right(answer.handle > NULL, f"{function}: a handle", True, "FW-API-004")
        made = Living(self.app.owns(function, answer.handle), state())
        made.use(*uses)
        kind.living.append(made)
        return made

    def free(self, kind: Kind[Any], number: int) -> None:
        """Free an object that nothing refers to."""
        found = kind.find(number)
        if found is None or found.users or found.is_lost:
            return
        self.calls.append(f"free({found.handle})")
        self.app.free(found.handle)
        kind.living.remove(found)
        for used in found.uses:
            used.users -= 1
        found.is_lost, kind.freed = True, found

    def right(self, actual: object, what: str, expected: object, requirement: str) -> None:
        """Raise WrongValue unless the last call has brought what it should."""
        if actual == expected:
            return
        error = WrongValue(f"call {len(self.calls)}, {what}: expected {expected!r}, found {actual!r}")
        error.about = (requirement,)
        raise error

    def history(self) -> str:
        """The calls, one a line."""
        return "\n".join(f"  {number}. {call}" for number, call in enumerate(self.calls, 1))


def always(code: Required = OK) -> Rule:
    """A call of which the code does not depend on any object."""
    return lambda: code
