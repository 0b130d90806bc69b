"""NNAPI runtimes with bugs that only some histories of calls show. Option `bug` says which one."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.runtime.hooks import FaultyRuntime
from npu_conformance.faults.runtime.subject import edited_runtime
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import Pointer
from npu_conformance.specs.plugin import Context, Plugin, Subject
from npu_conformance.specs.versions import NEWEST, Version

_OK = ResultCode.NO_ERROR
_BYTES = 8


class _Watching(FaultyRuntime):
    """Knows where the outputs of executions lie."""

    def __init__(self, inner: Runtime, context: Context) -> None:
        super().__init__(inner, context)
        self.outputs: dict[int, Pointer] = {}
        self.computed: Counter[int] = Counter()

    def call(self, name: str, *arguments: Any) -> Any:
        answer = super().call(name, *arguments)
        if name == "execution_set_output" and answer == _OK and arguments[3] is not None:
            self.outputs[arguments[0]] = arguments[3]
        return answer

    def output(self, execution: int, length: int = _BYTES) -> memoryview:
        """The bytes of an output, and those behind it."""
        pointer = self.outputs.get(execution)
        return memoryview(bytearray(length)) if pointer is None else self.bytes_at(pointer, length)


class _TakesOtherBursts(FaultyRuntime):
    """An execution is taken by the burst of another compilation (FW-EXE-014)."""

    def call(self, name: str, *arguments: Any) -> Any:
        answer = super().call(name, *arguments)
        if name == "execution_burst_compute" and answer == ResultCode.BAD_DATA and 0 not in arguments:
            computed: int = super().call("execution_compute", arguments[0])
            return _OK if computed == _OK else answer
        return answer


class _ComputesStale(_Watching):
    """The second computation of a reusable execution leaves its output as it was (FW-EXE-013)."""

    def call(self, name: str, *arguments: Any) -> Any:
        if name != "execution_compute":
            return super().call(name, *arguments)
        before = bytes(self.output(arguments[0]))
        answer = super().call(name, *arguments)
        self.computed[arguments[0]] += answer == _OK
        if self.computed[arguments[0]] > 1 and answer == _OK:
            self.output(arguments[0])[:] = before
        return answer


class _WritesBehind(_Watching):
    """Waiting for a second event writes a byte behind the output of its execution (FW-EXE-007)."""

    def __init__(self, inner: Runtime, context: Context) -> None:
        super().__init__(inner, context)
        self.events: dict[int, int] = {}

    def call(self, name: str, *arguments: Any) -> Any:
        answer = super().call(name, *arguments)
        if name == "execution_start_compute" and answer.result == _OK:
            self.events[answer.handle] = arguments[0]
        if name == "event_wait" and len(self.events) > 1 and arguments[0] in self.events:
            self.output(self.events[arguments[0]], _BYTES + 1)[_BYTES] = 0
        return answer


class _CopiesOnce(FaultyRuntime):
    """What was copied into memory is not copied out of it (FW-MEM-006)."""

    def __init__(self, inner: Runtime, context: Context) -> None:
        super().__init__(inner, context)
        self._targets: set[int] = set()

    def call(self, name: str, *arguments: Any) -> Any:
        if name != "memory_copy":
            return super().call(name, *arguments)
        if arguments[0] in self._targets and arguments[0] != arguments[1] and arguments[1]:
            return _OK
        answer = super().call(name, *arguments)
        if answer == _OK:
            self._targets.add(arguments[1])
        return answer


class _TakesLatePriorities(FaultyRuntime):
    """A finished compilation that has an execution takes a priority (FW-CMP-003)."""

    def __init__(self, inner: Runtime, context: Context) -> None:
        super().__init__(inner, context)
        self._executed: set[int] = set()

    def call(self, name: str, *arguments: Any) -> Any:
        answer = super().call(name, *arguments)
        if name == "execution_create" and answer.result == _OK:
            self._executed.add(arguments[0])
        return _OK if name == "compilation_set_priority" and arguments[0] in self._executed else answer


class _FinishesAgain(FaultyRuntime):
    """A model whose finish has failed says BAD_DATA again (FW-MDL-025)."""

    def __init__(self, inner: Runtime, context: Context) -> None:
        super().__init__(inner, context)
        self._failed: set[int] = set()

    def call(self, name: str, *arguments: Any) -> Any:
        answer = super().call(name, *arguments)
        if name == "model_finish" and arguments[0] in self._failed:
            return ResultCode.BAD_DATA
        if name == "model_finish" and answer == ResultCode.BAD_DATA:
            self._failed.add(arguments[0])
        return answer


class _Building(FaultyRuntime):
    """Knows how many operands a model has, and its operations."""

    def __init__(self, inner: Runtime, context: Context) -> None:
        super().__init__(inner, context)
        self.operands: Counter[int] = Counter()
        self.operations: dict[int, list[tuple[set[int], set[int]]]] = {}

    def call(self, name: str, *arguments: Any) -> Any:
        answer = super().call(name, *arguments)
        if name == "model_add_operand" and answer == _OK:
            self.operands[arguments[0]] += 1
        if name == "model_add_operation" and answer == _OK:
            lists = set(arguments[2]), set(arguments[3])
            self.operations.setdefault(arguments[0], []).append(lists)
        return answer


class _TakesOneBehind(_Building):
    """An operation may name the operand after the last one (FW-MDL-021)."""

    def call(self, name: str, *arguments: Any) -> Any:
        answer = super().call(name, *arguments)
        is_refused = name == "model_add_operation" and answer == ResultCode.BAD_DATA and arguments[2] and arguments[3]
        is_near = is_refused and max(*arguments[2], *arguments[3]) == self.operands[arguments[0]] > 0
        return _OK if is_near else answer


class _TakesCycles(_Building):
    """A model may be a cycle (FW-MDL-023)."""

    def call(self, name: str, *arguments: Any) -> Any:
        answer = super().call(name, *arguments)
        if name == "model_finish" and answer == ResultCode.BAD_DATA and self._has_cycle(arguments[0]):
            return _OK
        return answer

    def _has_cycle(self, model: int) -> bool:
        left = self.operations.get(model, [])
        while ready := [one for one in left if not any(one[0] & other[1] for other in left)]:
            left = [one for one in left if one not in ready]
        return len(left) > 1


class _TakesLongLists(FaultyRuntime):
    """A list of more than 64 numbers is not looked at (FW-MDL-022)."""

    def call(self, name: str, *arguments: Any) -> Any:
        answer = super().call(name, *arguments)
        is_long = name == "model_identify_inputs_and_outputs" and max(len(arguments[1]), len(arguments[2])) > 64
        return _OK if is_long and answer == ResultCode.BAD_DATA else answer


class _RefusesSecondRole(FaultyRuntime):
    """A descriptor has one role at most (FW-MEM-002)."""

    def __init__(self, inner: Runtime, context: Context) -> None:
        super().__init__(inner, context)
        self._roles: set[int] = set()

    def call(self, name: str, *arguments: Any) -> Any:
        if "_role" not in name:
            return super().call(name, *arguments)
        answer = super().call(name, *arguments)
        is_second = arguments[0] in self._roles
        self._roles |= {arguments[0]} if answer == _OK else set()
        return ResultCode.BAD_DATA if is_second and answer == _OK else answer


class _KeepsEvents(FaultyRuntime):
    """An event that nobody has waited for is not freed (FUZ-001)."""

    def __init__(self, inner: Runtime, context: Context) -> None:
        super().__init__(inner, context)
        self._waited: set[int] = set()

    def call(self, name: str, *arguments: Any) -> Any:
        if name == "event_free" and arguments[0] and arguments[0] not in self._waited:
            return None
        if name == "event_wait":
            self._waited.add(arguments[0])
        return super().call(name, *arguments)


class _RemembersCompilations(FaultyRuntime):
    """A compilation that was freed is told from nonsense: BAD_STATE where BAD_DATA is promised (FUZ-011)."""

    def __init__(self, inner: Runtime, context: Context) -> None:
        super().__init__(inner, context)
        self._freed: set[int] = set()

    def call(self, name: str, *arguments: Any) -> Any:
        answer = super().call(name, *arguments)
        if name == "compilation_free":
            self._freed.add(arguments[0])
        is_lost = name == "execution_create" and arguments[0] in self._freed and arguments[0]
        return replace(answer, result=ResultCode.BAD_STATE) if is_lost else answer


class _ForgetsOutput(_Watching):
    """A computation over a burst says that its output has rank 2 (FW-EXE-017)."""

    def call(self, name: str, *arguments: Any) -> Any:
        answer = super().call(name, *arguments)
        if name == "execution_burst_compute" and answer == _OK:
            self.computed[arguments[0]] += 1
        if name == "execution_get_output_operand_rank" and self.computed[arguments[0]] and answer.result == _OK:
            return replace(answer, value=2)
        return answer


BUGS = {
    "takes-other-bursts": _TakesOtherBursts,
    "computes-stale": _ComputesStale,
    "writes-behind": _WritesBehind,
    "copies-once": _CopiesOnce,
    "takes-late-priorities": _TakesLatePriorities,
    "finishes-again": _FinishesAgain,
    "takes-one-behind": _TakesOneBehind,
    "takes-cycles": _TakesCycles,
    "takes-long-lists": _TakesLongLists,
    "refuses-second-role": _RefusesSecondRole,
    "keeps-events": _KeepsEvents,
    "remembers-compilations": _RemembersCompilations,
    "forgets-output": _ForgetsOutput,
}


def _create(context: Context) -> Subject:
    return edited_runtime((), NEWEST, BUGS[context.options["bug"]]).create(context, Version.FL8)


plugin = Plugin(
    Manifest(
        name="called",
        vendor="tests",
        version="1",
        interfaces=("runtime", "runtime_control"),
        checks_handles=True,
        options={"bug": "which one"},
    ),
    _create,
)
"""The reference runtime behind a boundary."""
