"""Memory objects and descriptors of the reference runtime."""

from __future__ import annotations

import pytest
from nnapi_app import OPEN_VECTOR, VECTOR, App, made, succeed

from npu_conformance.reference.runtime.backend import Outcome, RuntimeFailure
from npu_conformance.reference.runtime.objects.memory import DescribedMemoryObject
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription
from npu_conformance.specs.neuralnetworks.types import HardwareBufferDescription, Memory

BAD_DATA, BAD_STATE, OP_FAILED = ResultCode.BAD_DATA, ResultCode.BAD_STATE, ResultCode.OP_FAILED
NULL = ResultCode.UNEXPECTED_NULL
LONG_VECTOR = OperandDescription(OperandType.TENSOR_FLOAT32, 1, (3,))


def test_memory_from_a_descriptor_of_a_file_keeps_its_own() -> None:
    app = App()
    create, memory = app.runtime.memory_create_from_fd, app.memory.make(16)
    assert create(0, 3, memory, 0, True).result == create(16, 3, None, 0, True).result == BAD_DATA
    assert create(16, 3, memory, 0, False).result == NULL
    one, other = made(create(16, 3, memory, 0, True)), app.app_memory(16)
    app.memory.contents[memory.token][:4] = b"abcd"
    app.memory.free(memory)
    succeed(app.runtime.memory_copy(one, other))
    assert bytes(app.memory.contents[max(app.memory.contents)][:4]) == b"abcd"


def test_memory_that_cannot_be_mapped() -> None:
    app = App()
    unknown = made(app.runtime.memory_create_from_fd(16, 3, Memory("ashmem", 16, 99), 0, True))
    assert app.runtime.memory_copy(unknown, app.app_memory(16)) == ResultCode.UNMAPPABLE


def test_copies_between_the_app_s_own() -> None:
    app = App()
    one, other, longer = app.app_memory(8), app.app_memory(8), app.app_memory(9)
    succeed(app.runtime.memory_copy(one, one))
    succeed(app.runtime.memory_copy(one, other))
    assert app.runtime.memory_copy(one, longer) == BAD_DATA
    assert app.runtime.memory_copy(one, 0) == NULL
    locked = made(app.runtime.memory_create_from_fd(8, 1, app.memory.make(8), 0, True))
    assert app.runtime.memory_copy(one, locked) == ResultCode.UNMAPPABLE


def test_hardware_buffers() -> None:
    app = App()
    blob = Memory("hardwareBuffer", 64, app.page.token, description=HardwareBufferDescription(64, 1, 1, 33))
    pixels = Memory("hardwareBuffer", 64, app.page.token, description=HardwareBufferDescription(4, 4, 1, 1))
    execution = app.execution(arguments=False)
    create, setter = app.runtime.memory_create_from_a_hardware_buffer, app.runtime.execution_set_input_from_memory
    assert create(None, True).result == NULL
    assert setter(execution, 0, None, made(create(blob, True)), 0, 0) == BAD_DATA
    assert setter(execution, 0, None, made(create(pixels, True)), 0, 8) == BAD_DATA
    succeed(setter(execution, 0, None, made(create(blob, True)), 8, 8))
    succeed(setter(execution, 1, None, made(create(pixels, True)), 0, 0))


def test_roles() -> None:
    app = App()
    compilation, other, longer = app.compilation(), app.compilation(OPEN_VECTOR), app.compilation(LONG_VECTOR)
    desc, add = made(app.runtime.memory_desc_create(True)), app.runtime.memory_desc_add_input_role
    for frequency in (10.0, 0.0, -1.0, float("nan")):
        assert add(desc, compilation, 0, frequency) == BAD_DATA
    assert add(desc, compilation, 999, 1.0) == BAD_DATA
    assert add(desc, app.compilation(finish=False), 0, 1.0) == BAD_DATA
    assert app.runtime.memory_desc_finish(desc) == BAD_DATA
    succeed(add(desc, compilation, 0, 1.0))
    assert add(desc, compilation, 0, 0.5) == BAD_DATA
    assert add(desc, longer, 0, 1.0) == BAD_DATA
    succeed(add(desc, other, 0, 0.5))
    succeed(app.runtime.memory_desc_add_output_role(desc, compilation, 0, 0.5))
    assert app.runtime.memory_create_from_desc(desc, True).result == BAD_STATE
    succeed(app.runtime.memory_desc_finish(desc))
    assert app.runtime.memory_desc_finish(desc) == add(desc, compilation, 1, 1.0) == BAD_STATE
    made(app.runtime.memory_create_from_desc(desc, True))
    description, is_explicit = app.backend.allocations[0]
    assert (description.dimensions, len(description.roles), is_explicit) == ((2,), 3, False)


def test_dimensions_of_descriptors() -> None:
    app = App()
    desc, setter = made(app.runtime.memory_desc_create(True)), app.runtime.memory_desc_set_dimensions
    assert setter(desc, 1, None) == NULL
    succeed(setter(desc, 0, None))
    succeed(app.runtime.memory_desc_add_input_role(desc, app.compilation(OPEN_VECTOR), 0, 1.0))
    succeed(setter(desc, 1, (2,)))
    assert setter(desc, 1, (3,)) == setter(desc, 2, (2, 1)) == BAD_DATA
    assert app.runtime.memory_desc_add_input_role(desc, app.compilation(LONG_VECTOR), 0, 1.0) == BAD_DATA


def test_types_of_roles() -> None:
    app = App()
    desc, add = made(app.runtime.memory_desc_create(True)), app.runtime.memory_desc_add_input_role
    half = OperandDescription(OperandType.TENSOR_FLOAT16, 1, (2,))
    succeed(add(desc, app.compilation(), 0, 1.0))
    assert add(desc, app.compilation(half), 0, 1.0) == BAD_DATA


def test_described_memory_as_arguments() -> None:
    app = App()
    compilation = app.compilation()
    memory, execution = app.described_memory(compilation, is_input=True), app.execution(compilation, arguments=False)
    setter = app.runtime.execution_set_input_from_memory
    assert setter(execution, 0, None, memory, 1, 0) == setter(execution, 0, None, memory, 0, 8) == BAD_DATA
    assert setter(execution, 1, None, memory, 0, 0) == BAD_DATA, "another role"
    assert setter(app.execution(arguments=False), 0, None, memory, 0, 0) == BAD_DATA, "another compilation"
    succeed(setter(execution, 0, VECTOR, memory, 0, 0))


def test_described_memory_has_to_be_written_before_it_is_read() -> None:
    app = App()
    compilation = app.compilation()
    memory = app.described_memory(compilation, is_input=True)
    for written, result in ((False, OP_FAILED), (True, ResultCode.NO_ERROR)):
        if written:
            succeed(app.runtime.memory_copy(app.app_memory(8), memory))
        execution = app.execution(compilation, arguments=False)
        succeed(app.runtime.execution_set_input_from_memory(execution, 0, None, memory, 0, 0))
        succeed(app.runtime.execution_set_input(execution, 1, None, app.at(0), 8))
        succeed(app.runtime.execution_set_output(execution, 0, None, app.at(0), 8))
        assert app.runtime.execution_compute(execution) == result


def test_a_failed_computation_leaves_its_output_without_value() -> None:
    app = App()
    compilation = app.compilation()
    memory, target = app.described_memory(compilation, is_input=False), app.app_memory(8)
    copy = app.runtime.memory_copy
    assert copy(memory, target) == BAD_DATA
    for outcome, result in ((ResultCode.NO_ERROR, ResultCode.NO_ERROR), (OP_FAILED, BAD_DATA)):
        execution = app.execution(compilation, arguments=False)
        for index in (0, 1):
            succeed(app.runtime.execution_set_input(execution, index, None, app.at(0), 8))
        succeed(app.runtime.execution_set_output_from_memory(execution, 0, None, memory, 0, 0))
        app.plan.outcome = Outcome(outcome)
        assert app.runtime.execution_compute(execution) == outcome
        app.runtime.handles.get(DescribedMemoryObject, memory).buffer.content = bytes(8)  # type: ignore[attr-defined]
        assert copy(memory, target) == result


def test_copies_between_described_memories() -> None:
    app = App()
    compilation, longer = app.compilation(OPEN_VECTOR), app.compilation(LONG_VECTOR)
    sized = app.compilation()
    one = app.described_memory(sized, is_input=True)
    other, third = app.described_memory(compilation, is_input=True), app.described_memory(longer, is_input=True)
    succeed(app.runtime.memory_copy(app.app_memory(8), one))
    succeed(app.runtime.memory_copy(one, other))
    assert app.runtime.handles.get(DescribedMemoryObject, other).buffer.dimensions == (2,)
    assert app.runtime.memory_copy(one, third) == BAD_DATA
    assert app.runtime.memory_copy(app.app_memory(12), one) == BAD_DATA


def test_a_failed_copy_leaves_its_target_without_value() -> None:
    app = App()
    memory, source = app.described_memory(app.compilation(), is_input=True), app.app_memory(8)
    succeed(app.runtime.memory_copy(source, memory))
    app.backend.copy_failure = RuntimeFailure(ResultCode.DEAD_OBJECT, "the driver has died")
    assert app.runtime.memory_copy(source, memory) == ResultCode.DEAD_OBJECT
    assert app.runtime.memory_copy(memory, source) == BAD_DATA
    app.backend.copy_failure = None
    succeed(app.runtime.memory_copy(source, memory))
    assert app.runtime.memory_copy(app.app_memory(64), memory) == BAD_DATA
    assert app.runtime.memory_copy(memory, source) == BAD_DATA


@pytest.mark.parametrize("devices", [0, 1])
def test_descriptors_know_whether_devices_were_named(devices: int) -> None:
    app = App()
    app.described_memory(app.compilation(devices=devices), is_input=True)
    assert app.backend.allocations[0][1] == bool(devices)


def test_scalars_have_no_dimensions() -> None:
    app = App()
    scalar = OperandDescription(OperandType.FLOAT32)
    model = app.model(VECTOR, scalar, VECTOR)
    succeed(app.runtime.model_add_operation(model, OperationType.SOFTMAX, (0, 1), (2,)))
    succeed(app.runtime.model_identify_inputs_and_outputs(model, (0, 1), (2,)))
    succeed(app.runtime.model_finish(model))
    compilation = made(app.runtime.compilation_create(model, True))
    succeed(app.runtime.compilation_finish(compilation))
    desc = made(app.runtime.memory_desc_create(True))
    succeed(app.runtime.memory_desc_add_input_role(desc, compilation, 1, 1.0))
    assert app.runtime.memory_desc_set_dimensions(desc, 1, (1,)) == BAD_DATA
    shaped = made(app.runtime.memory_desc_create(True))
    succeed(app.runtime.memory_desc_set_dimensions(shaped, 1, (1,)))
    assert app.runtime.memory_desc_add_input_role(shaped, compilation, 1, 1.0) == BAD_DATA
