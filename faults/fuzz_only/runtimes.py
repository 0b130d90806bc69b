"""NNAPI runtimes that go wrong behind rare histories of calls."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.fault import FuzzFault
from npu_conformance.faults.fuzz_only.table import rows
from npu_conformance.faults.runtime.hooks import FaultyRuntime
from npu_conformance.faults.runtime.subject import edited_runtime
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.plugin import Context
from npu_conformance.specs.versions import NEWEST

_OK = ResultCode.NO_ERROR


class _Counting(FaultyRuntime):
    """Counts what succeeded, by call and first argument, and by call and result."""

    def __init__(self, inner: Runtime, context: Context) -> None:
        super().__init__(inner, context)
        self.done: Counter[tuple[str, int]] = Counter()
        self.refused: Counter[tuple[str, int]] = Counter()

    def call(self, name: str, *arguments: Any) -> Any:
        """Make the call in the way of the fault."""
        answer = self.answer(name, *arguments)
        code = answer if isinstance(answer, int) else getattr(answer, "result", _OK)
        first = arguments[0] if arguments and isinstance(arguments[0], int) else 0
        (self.done if code == _OK else self.refused)[name, first] += 1
        return answer

    def answer(self, name: str, *arguments: Any) -> Any:
        """Make the call."""
        return super().call(name, *arguments)


class _ThirdExecution(_Counting):
    def answer(self, name: str, *arguments: Any) -> Any:
        if name == "execution_create" and self.done[name, arguments[0]] == 3:
            answer = super().answer(name, *arguments)
            return replace(answer, result=ResultCode.OP_FAILED, handle=0) if answer.result == _OK else answer
        return super().answer(name, *arguments)


class _FinishedTwice(_Counting):
    def answer(self, name: str, *arguments: Any) -> Any:
        answer = super().answer(name, *arguments)
        if name == "memory_desc_finish" and self.refused[name, arguments[0]] > 1:
            return _OK
        return answer


class _LateLoopTimeout(_Counting):
    def answer(self, name: str, *arguments: Any) -> Any:
        answer = super().answer(name, *arguments)
        is_late = self.done["execution_compute", arguments[0]] if arguments else 0
        if name == "execution_set_loop_timeout" and is_late and answer == ResultCode.BAD_STATE:
            return _OK
        return answer


class _RelaxedThrice(_Counting):
    def answer(self, name: str, *arguments: Any) -> Any:
        relax = "model_relax_computation_float32_to_float16"
        if name == "model_finish" and self.done[relax, arguments[0]] > 1:
            answer = super().answer(name, *arguments)
            return ResultCode.BAD_STATE if answer == _OK else answer
        return super().answer(name, *arguments)


class _TwoBursts(_Counting):
    def answer(self, name: str, *arguments: Any) -> Any:
        answer = super().answer(name, *arguments)
        if name == "execution_burst_compute" and answer == _OK and self.done[name, arguments[0]] == 1:
            return ResultCode.OP_FAILED
        return answer


class _WaitedTwice(_Counting):
    def answer(self, name: str, *arguments: Any) -> Any:
        if name == "event_wait" and self.done[name, arguments[0]] == 2:
            raise MemoryError("signal 11")
        return super().answer(name, *arguments)


class _AskedWhileBroken(_Counting):
    def answer(self, name: str, *arguments: Any) -> Any:
        answer = super().answer(name, *arguments)
        has_failed = arguments and self.refused["compilation_set_preference", arguments[0]]
        if (
            name == "compilation_finish"
            and has_failed
            and answer == _OK
            and self.done["compilation_set_priority", arguments[0]]
        ):
            return ResultCode.BAD_DATA
        return answer


class _CopiedOntoItself(_Counting):
    def answer(self, name: str, *arguments: Any) -> Any:
        if name == "memory_copy" and arguments[0] == arguments[1] and self.done[name, arguments[0]]:
            raise MemoryError("overlapping copy")
        return super().answer(name, *arguments)


class _RolesOfFour(_Counting):
    def answer(self, name: str, *arguments: Any) -> Any:
        roles = ("memory_desc_add_input_role", "memory_desc_add_output_role")
        if name in roles and sum(self.done[role, arguments[0]] for role in roles) >= 3:
            answer = super().answer(name, *arguments)
            return ResultCode.OUT_OF_MEMORY if answer == _OK else answer
        return super().answer(name, *arguments)


def _runtime(kind: type[FaultyRuntime]) -> Any:
    return edited_runtime((), NEWEST, kind)


FAULTS: tuple[FuzzFault, ...] = rows(
    "runtime",
    ("fourth-execution", "A compilation has three executions at most.", "FW-EXE-001", _runtime(_ThirdExecution)),
    ("finished-again", "A descriptor whose finish was refused twice is finished by the next.",
     "FW-MEM-002", _runtime(_FinishedTwice)),
    ("late-loop-timeout", "An execution that has computed takes a loop timeout.",
     "FW-EXE-010", _runtime(_LateLoopTimeout)),
    ("relaxed-twice", "A model that was relaxed twice cannot be finished.", "FW-MDL-025", _runtime(_RelaxedThrice)),
    ("second-burst", "The second computation of an execution over a burst fails.", "FW-EXE-014", _runtime(_TwoBursts)),
    ("waited-thrice", "Waiting for an event for the third time crashes.", "FW-EXE-013", _runtime(_WaitedTwice)),
    ("refused-preference", "A refused preference and a priority make a compilation fail.",
     "FW-CMP-003", _runtime(_AskedWhileBroken)),
    ("copied-onto-itself", "Memory that was copied before crashes when it is copied onto itself.",
     "FW-MEM-006", _runtime(_CopiedOntoItself)),
    ("fourth-role", "A descriptor has three roles at most.", "FW-MEM-002", _runtime(_RolesOfFour)),
)  # fmt: skip
