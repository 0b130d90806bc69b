"""Conforming variants of the NNAPI runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.fault import Variant
from npu_conformance.faults.runtime.hooks import FaultyRuntime, behind, overriding
from npu_conformance.faults.runtime.subject import edited_runtime
from npu_conformance.faults.source_edits import SourceEdit
from npu_conformance.specs.neuralnetworks.runtime.result_codes import UNAVAILABLE_DURATION, DurationCode, ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import Number

_NO_BURSTS = SourceEdit(
    "reference.runtime.planning.bursts", "open_burst", "if version < Version.V1_2:", "if version <= Version.FL8:"
)

_ASKS_TWICE = SourceEdit(
    "reference.runtime.planning.driver",
    "Driver._supported",
    "answers = self.call(",
    "self.call(lambda device: device.get_supported_operations(model))\nanswers = self.call(",
)

_NO_DEVICE_MEMORY = SourceEdit(
    "reference.runtime.planning.memory_maker",
    "ReferenceMemoryMaker.allocate",
    "roles = [",
    'raise RuntimeFailure(ResultCode.OP_FAILED, "no device can allocate the memory")\nroles = [',
)


_NO_ROOM = SourceEdit(
    "reference.runtime.planning.memory_maker",
    "ReferenceMemoryMaker.allocate",
    "roles = [",
    'raise RuntimeFailure(ResultCode.OUT_OF_MEMORY, "no memory is left")\nroles = [',
)


def _room_for(count: int, code: ResultCode) -> SourceEdit:
    """So many memories from descriptors live at once; another one fails with this code, before a driver is asked."""
    return SourceEdit(
        "reference.runtime.api_memories",
        "MemoryApi.memory_create_from_desc",
        "return Handle(",
        f"""from npu_conformance.reference.runtime.backend import RuntimeFailure
from npu_conformance.reference.runtime.objects.memory import DescribedMemoryObject

is_sound = not self._descriptor(desc)._is_open
living = sum(isinstance(one, DescribedMemoryObject) for one in self.handles._objects.values())
if is_sound and living >= {count}:
    raise RuntimeFailure(ResultCode.{code.name}, "no memory is left")
return Handle(""",
    )


_NO_MEMORY_OF_DRIVERS = SourceEdit(
    "reference.runtime.planning.memory_maker", "_only_driver", "if not steps:", "if True:"
)

_CPU_FIRST = SourceEdit(
    "reference.runtime.planning.compiler",
    "ReferenceCompiler.devices",
    "(*self._drivers, self._cpu)",
    "(self._cpu, *self._drivers)",
)

_ONE_OPERATION_A_STEP = SourceEdit(
    "reference.runtime.planning.partition", "steps_of", "if device == interpreter:", "if True:"
)


def _checked_before(place: str, find: str, check: str) -> SourceEdit:
    """place: module and function of the objects of the runtime. find: what is done first there, but for this check."""
    module, _, function = place.partition(":")
    return SourceEdit(f"reference.runtime.objects.{module}", function, find, f"{check}\n{find}")


_OTHER_ORDER = (
    _checked_before("compilation:Compilation.set_timeout", "self._check_open()", "self.check_one_device()"),
    _checked_before(
        "compilation:Compilation.set_preference",
        "self._check_open()",
        "if preference > max(ExecutionPreference):\n    raise bad_data('')",
    ),
    _checked_before(
        "model:Model.add_operand",
        "self.check_open()",
        "check_description(described, self.environment.extensions, self._newest)",
    ),
    _checked_before(
        "arguments:Arguments.set_pointer",
        "self._check_unset(index)",
        "if buffer is not None:\n    self._padding(operand, self._dimensions(operand, described), length, padded)",
    ),
    _checked_before("execution:Execution.add_hint", "self.compilation.check_one_device()", "self._check_preparation()"),
)
"""What is looked at first, where two things are wrong and no document says which."""


def _no_times(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    answer = meant(*arguments)
    return answer if answer.result else Number(ResultCode.NO_ERROR, UNAVAILABLE_DURATION)


def _no_times_in_drivers(_: FaultyRuntime, meant: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    answer = meant(*arguments)
    is_in_driver = arguments[1] in (DurationCode.IN_DRIVER, DurationCode.FENCED_IN_DRIVER)
    return replace(answer, value=UNAVAILABLE_DURATION) if is_in_driver and not answer.result else answer


VARIANTS = [
    Variant(
        "runtime-no-burst",
        "A runtime that has no bursts of its drivers, and computes an app's by other calls.",
        edited_runtime((_NO_BURSTS,)),
    ),
    Variant(
        "runtime-one-device",
        "A runtime without drivers: its CPU is the only device.",
        behind(FaultyRuntime, drivers=0),
    ),
    Variant(
        "runtime-no-times",
        "A runtime that never knows how long anything took.",
        behind(overriding({"execution_get_duration": _no_times})),
    ),
    Variant(
        "runtime-times-on-hardware",
        "A runtime that knows how long the hardware took, and never how long the driver did.",
        behind(overriding({"execution_get_duration": _no_times_in_drivers})),
    ),
    Variant(
        "runtime-one-operation-a-step",
        "A runtime that makes a step of each operation of a model that no device has whole.",
        edited_runtime((_ONE_OPERATION_A_STEP,)),
    ),
    Variant(
        "runtime-no-device-memory",
        "A runtime that gives no memory from descriptors.",
        edited_runtime((_NO_DEVICE_MEMORY,)),
    ),
    Variant(
        "runtime-out-of-memory",
        "A runtime that promises no exact codes, and has no room for memory from descriptors.",
        edited_runtime((_NO_ROOM,), exact_result_codes=False),
    ),
    Variant(
        "runtime-room-for-one-memory",
        "A runtime with room for one memory from a descriptor at once; another one fails as where no device has any.",
        edited_runtime((_room_for(1, ResultCode.OP_FAILED),)),
    ),
    Variant(
        "runtime-room-for-two-memories",
        "A runtime with room for two memories from descriptors at once, which says OUT_OF_MEMORY of another one.",
        edited_runtime((_room_for(2, ResultCode.OUT_OF_MEMORY),)),
    ),
    Variant(
        "runtime-room-for-three-memories",
        "A runtime with room for three memories from descriptors at once; another one fails with OP_FAILED.",
        edited_runtime((_room_for(3, ResultCode.OP_FAILED),)),
    ),
    Variant(
        "runtime-asks-no-driver-for-memory",
        "A runtime that keeps memory from descriptors itself, and gives none for an explicit list of drivers.",
        edited_runtime((_NO_MEMORY_OF_DRIVERS,)),
    ),
    Variant(
        "runtime-asks-twice",
        "A runtime that asks each driver twice what it supports, and takes the second answer.",
        edited_runtime((_ASKS_TWICE,)),
    ),
    Variant(
        "runtime-cpu-comes-first",
        "The CPU comes before the drivers: which order devices have is not said.",
        edited_runtime((_CPU_FIRST,)),
    ),
    Variant(
        "runtime-other-order-of-checks",
        "A runtime that tells the other one of two mistakes that are made in one call.",
        edited_runtime(_OTHER_ORDER),
    ),
]
"""Runtimes that conform in their own way."""
