"""An app that uses a runtime: its calls, and the objects that it has to free."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast
from weakref import WeakKeyDictionary

from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.nnapi.caller_memory import PooledMemory
from npu_conformance.harness.wire.binding import MethodCall, call_each
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription
from npu_conformance.specs.versions import Version

VECTOR = OperandDescription(OperandType.TENSOR_FLOAT32, 1, (2,))
ACTIVATION = OperandDescription(OperandType.INT32)
UNKNOWN_DIMENSION = OperandDescription(OperandType.TENSOR_FLOAT32, 1, (0,))
"""A vector of unknown size."""
UNKNOWN_RANK = OperandDescription(OperandType.TENSOR_FLOAT32)

_FREE = {
    "model_create": "model_free",
    "compilation_create": "compilation_free",
    "compilation_create_for_devices": "compilation_free",
    "burst_create": "burst_free",
    "execution_create": "execution_free",
    "execution_start_compute": "event_free",
    "execution_start_compute_with_dependencies": "event_free",
    "event_create_from_sync_fence_fd": "event_free",
    "memory_create_from_fd": "memory_free",
    "memory_create_from_a_hardware_buffer": "memory_free",
    "memory_create_from_desc": "memory_free",
    "memory_desc_create": "memory_desc_free",
}
"""Which function frees what a function makes."""

_functions_of: WeakKeyDictionary[Runtime, frozenset[str]] = WeakKeyDictionary()


class App:
    """level: the runtime's feature level; 1.0 to 1.3 stand for the levels 1 to 4. memory: of the app itself."""

    def __init__(self, runtime: Runtime, level: Version, memory: PooledMemory) -> None:
        self.runtime = runtime
        self.level = level
        self.memory = memory
        self._functions = functions_of(runtime)
        self._owned: list[tuple[str, int]] = []

    def call(self, function: str, *arguments: Any, **named: Any) -> Any:
        """Call a function of the API. NotApplicable where the runtime does not have it."""
        self._need(function)
        rest = describe(Runtime)[function].parameters[len(arguments) :]
        return getattr(self.runtime, function)(*arguments, *[named[name] for name, _ in rest])

    def call_each(self, calls: Iterable[MethodCall]) -> Iterator[tuple[str, Any]]:
        """Call functions in turn, also where one of them fails; yields the name and the answer of each.

        NotApplicable where the runtime does not have one of them.
        """
        known = list(calls)
        for function, _ in known:
            self._need(function)
        return call_each(self.runtime, known)

    def _need(self, function: str) -> None:
        if function not in self._functions:
            raise NotApplicable(f"the runtime does not have {function}")

    def has(self, function: str) -> bool:
        """Whether the runtime has a function."""
        return function in self._functions

    def owns(self, function: str, handle: int) -> int:
        """Free an object that a function has made at the end."""
        self._owned.append((_FREE[function], handle))
        return handle

    def free(self, handle: int) -> None:
        """Free an object now."""
        self.call(*self._taken(handle))

    def call_and_free(self, handle: int, function: str, *arguments: Any) -> Any:
        """Call a function and free an object behind it, in one message; returns the answer of the function."""
        freeing, freed = self._taken(handle)
        (_, answer), _ = self.call_each([(function, arguments), (freeing, (freed,))])
        return answer

    def _taken(self, handle: int) -> tuple[str, int]:
        owned = next(each for each in reversed(self._owned) if each[1] == handle)
        self._owned.remove(owned)
        return owned

    def forget(self) -> None:
        """Free nothing: the objects are gone."""
        self._owned.clear()

    def free_all(self) -> None:
        """Free everything, the newest first."""
        owned, self._owned = self._owned, []
        for _ in self.call_each((function, (handle,)) for function, handle in reversed(owned)):
            pass


def functions_of(runtime: Runtime) -> frozenset[str]:
    """The functions that a runtime has: as they do not change while it lives, they are asked once."""
    found = _functions_of.get(runtime)
    if found is None:
        found = _functions_of[runtime] = frozenset(runtime.functions())
    return found


def result_of(answer: Any) -> int:
    """The result code of an answer, which may be nothing else."""
    return cast(int, answer if isinstance(answer, int) else answer.result)
