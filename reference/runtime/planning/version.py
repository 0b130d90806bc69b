"""What runtime and driver say to each other in the form of the driver's version (FW-VER-001)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from npu_conformance.reference.runtime.planning.extract import COMPUTED, extract
from npu_conformance.reference.runtime.planning.parts import NO_TIMING
from npu_conformance.specs.neuralnetworks.compliance import convert_to
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, Priority
from npu_conformance.specs.neuralnetworks.runtime.result_codes import UNAVAILABLE_DURATION, RuntimePriority
from npu_conformance.specs.neuralnetworks.types import (
    BLOB_FORMAT,
    HardwareBufferDescription,
    Memory,
    Model,
    Operand,
    Timing,
)
from npu_conformance.specs.versions import NEWEST, Version

_IN_AIDL = {"mmap_fd": "mappableFile", "hardware_buffer_blob": "hardwareBuffer", "hardware_buffer": "hardwareBuffer"}
_PRIORITIES = {RuntimePriority.LOW: Priority.LOW, RuntimePriority.HIGH: Priority.HIGH}


class InvalidSliceError(AssertionError):
    """A slice broke a rule, and debug.nn.strict-slicing is set: AOSP aborts here."""


def memory_for(version: Version, memory: Memory) -> Memory:
    """Memory as the version spells its kind."""
    if version.is_aidl:
        return _in_aidl(memory)
    if memory.kind == "mappableFile":
        return replace(memory, kind="mmap_fd")
    if memory.kind == "hardwareBuffer":
        is_blob = memory.description is not None and memory.description.format == BLOB_FORMAT
        return replace(memory, kind="hardware_buffer_blob" if is_blob else "hardware_buffer")
    return memory


def _in_aidl(memory: Memory) -> Memory:
    kind = _IN_AIDL.get(memory.kind)
    if kind is None:
        return memory
    if memory.kind == "hardware_buffer_blob" and memory.description is None:
        return replace(memory, kind=kind, description=HardwareBufferDescription(memory.size, 1, 1, BLOB_FORMAT))
    return replace(memory, kind=kind)


def model_for(version: Version, model: Model) -> Model | None:
    """The model in the form of a version; None where that cannot express it."""
    if model.pools:
        model = replace(model, pools=tuple(memory_for(version, pool) for pool in model.pools))
    if version == NEWEST:
        return model
    try:
        return convert_to(model, version).value
    except ValueError:
        return None


def slice_for(version: Version, model: Model, *, strict: bool) -> tuple[Model, Sequence[int]] | None:
    """The operations of the main graph that a version can express, as a model, and where they stand (FW-PRT-013).

    Only for the question which are supported: as a graph it need not make sense. None where nothing is left. Raises
    InvalidSliceError where the slice breaks a rule and strict is set.
    """
    known: dict[object, bool] = {}
    kept = [index for index in range(len(model.main.operations)) if _has(version, model, index, known)]
    if not kept:
        return None
    found = model_for(version, extract(model, kept).model)
    if found is None and strict:
        raise InvalidSliceError(f"the slice of operations {kept} for HAL {version} is not valid")
    return None if found is None else (found, kept)


def _has(version: Version, model: Model, index: int, known: dict[object, bool]) -> bool:
    """Whether a version can express an operation. known: the answers so far; most operations are like others."""
    form = _form(model, index)
    if form not in known:
        known[form] = model_for(version, extract(model, (index,)).model) is not None
    return known[form]


def _form(model: Model, index: int) -> object:
    """What of an operation counts for its age: its type, and of its operands all but where their values come from."""
    operation, operands = model.main.operations[index], model.main.operands
    return operation.type, tuple(
        _form_of_operand(model, operands[place]) for place in (*operation.inputs, *operation.outputs)
    )


def _form_of_operand(model: Model, operand: Operand) -> object:
    described = (operand.type, operand.dimensions, operand.scale, operand.zero_point, operand.extra_params)
    place = operand.location
    if operand.lifetime == OperandLifeTime.CONSTANT_COPY and operand.type == OperandType.TENSOR_FLOAT32:
        return described, "constant"
    if operand.lifetime == OperandLifeTime.CONSTANT_COPY:
        return described, model.operand_values[place.offset : place.offset + place.length]
    # Operands that are computed or given have no location.
    return described, operand.lifetime in COMPUTED, place


def priority_for(version: Version, priority: int) -> int:
    """The Priority of a RuntimePriority; before 1.3 there are none, and MEDIUM is neutral."""
    if version < Version.V1_3:
        return Priority.MEDIUM
    return _PRIORITIES.get(RuntimePriority(priority), Priority.MEDIUM)


def time_for(version: Version, time_ns: int | None) -> int:
    """A deadline or duration in the form of a version that has them; None for none."""
    return version.unavailable_time if time_ns is None or version < Version.V1_3 else time_ns


def timing_of(version: Version, timing: Timing | None) -> Timing:
    """A driver's timing in nanoseconds, UNAVAILABLE_DURATION for what it did not measure."""
    if timing is None:
        return NO_TIMING
    return Timing(_nanoseconds(version, timing.time_on_device), _nanoseconds(version, timing.time_in_driver))


def _nanoseconds(version: Version, time: int) -> int:
    if time == version.unavailable_time or time < 0:
        return UNAVAILABLE_DURATION
    return time if version.is_aidl else min(time * 1000, UNAVAILABLE_DURATION)
