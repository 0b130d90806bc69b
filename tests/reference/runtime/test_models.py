"""Models of the reference runtime: rules of building, what finish makes of them."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from nnapi_app import ACTIVATION, OPEN_VECTOR, VECTOR, App, ScriptedDevice, made, succeed

from npu_conformance.reference.runtime.objects.model import Model
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import (
    OperandDescription,
    PerChannelDescription,
    Pointer,
)
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.versions import Version

BAD_DATA, BAD_STATE, NULL = ResultCode.BAD_DATA, ResultCode.BAD_STATE, ResultCode.UNEXPECTED_NULL
T = OperandType


def wire_of(app: App, model: int) -> Model:
    return app.runtime.handles.get(Model, model)


@pytest.mark.parametrize(
    "operand",
    [
        OperandDescription(T.TENSOR_QUANT8_ASYMM, 1, (1,), -1.0, 0),
        OperandDescription(T.TENSOR_QUANT8_ASYMM, 1, (1,), 0.0, 0),
        OperandDescription(T.TENSOR_QUANT8_ASYMM, 1, (1,), float("nan"), 0),
        OperandDescription(T.TENSOR_QUANT8_ASYMM, 1, (1,), 1.0, 256),
        OperandDescription(T.TENSOR_QUANT8_ASYMM_SIGNED, 1, (1,), 1.0, -129),
        OperandDescription(T.TENSOR_QUANT16_SYMM, 1, (1,), 1.0, 1),
        OperandDescription(T.TENSOR_QUANT16_ASYMM, 1, (1,), 1.0, 65536),
        OperandDescription(T.TENSOR_FLOAT32, 1, (1,), 1.0, 0),
        OperandDescription(T.TENSOR_QUANT8_SYMM_PER_CHANNEL, 1, (1,), 1.0, 0),
        OperandDescription(T.INT32, 1, (1,)),
        OperandDescription(T.TENSOR_FLOAT32, 1, None),
        OperandDescription(T.TENSOR_FLOAT32, 0, ()),
        OperandDescription(T.TENSOR_FLOAT32, 2, (1,)),
        OperandDescription(T.TENSOR_FLOAT32, 1, (-1,)),
        OperandDescription(16),
        OperandDescription(-1),
        OperandDescription(T.TENSOR_FLOAT32, 2, (2**16, 2**14)),
        OperandDescription(0x10001),
    ],
    ids=str,
)
def test_operands_that_no_model_can_have(operand: OperandDescription) -> None:
    app = App()
    assert app.runtime.model_add_operand(app.model(), operand) == BAD_DATA


@pytest.mark.parametrize(
    "operand",
    [
        OperandDescription(T.TENSOR_FLOAT32),
        OPEN_VECTOR,
        OperandDescription(T.TENSOR_INT32, 1, (1,), 0.5, 3),
        OperandDescription(T.TENSOR_FLOAT32, 2, (2**16, 2**14 - 1)),
        OperandDescription(T.TENSOR_OEM_BYTE, 1, (1,), -1.0, 300),
    ],
    ids=str,
)
def test_operands_that_are_accepted(operand: OperandDescription) -> None:
    app = App()
    succeed(app.runtime.model_add_operand(app.model(), operand))


def test_types_newer_than_the_feature_level_are_unknown() -> None:
    signed = OperandDescription(T.TENSOR_QUANT8_ASYMM_SIGNED, 1, (1,), 1.0, 0)
    for level, result in ((Version.V1_2, BAD_DATA), (Version.V1_3, ResultCode.NO_ERROR)):
        app = App(level)
        assert app.runtime.model_add_operand(app.model(), signed) == result


def test_values() -> None:
    app = App()
    runtime, model, pointer = app.runtime, app.model(VECTOR, OPEN_VECTOR), app.at(0)
    assert runtime.model_set_operand_value(model, 0, None, 4) == NULL
    assert runtime.model_set_operand_value(model, 0, pointer, 0) == BAD_DATA
    assert runtime.model_set_operand_value(model, 0, pointer, 7) == BAD_DATA
    assert runtime.model_set_operand_value(model, -1, pointer, 8) == BAD_DATA
    assert runtime.model_set_operand_value(model, 2, pointer, 8) == BAD_DATA
    assert runtime.model_set_operand_value(model, 1, pointer, 8) == BAD_DATA
    assert runtime.model_set_operand_value(model, 0, Pointer(Memory("ashmem", 8, 99)), 8) == ResultCode.UNMAPPABLE
    assert runtime.model_set_operand_value(model, 0, app.at(4090), 8) == ResultCode.UNMAPPABLE
    succeed(runtime.model_set_operand_value(model, 1, None, 0))
    succeed(runtime.model_set_operand_value(model, 0, pointer, 8))


def test_values_from_memory() -> None:
    app = App()
    runtime, model, memory = app.runtime, app.model(VECTOR), app.app_memory(16)
    assert runtime.model_set_operand_value_from_memory(model, 0, 0, 0, 8) == NULL
    assert runtime.model_set_operand_value_from_memory(model, 0, memory, 12, 8) == BAD_DATA
    assert runtime.model_set_operand_value_from_memory(model, 0, memory, 0, 16) == BAD_DATA
    assert runtime.model_set_operand_value_from_memory(model, 0, memory + 1, 0, 8) == BAD_DATA
    described = app.described_memory(app.compilation(), is_input=True)
    assert runtime.model_set_operand_value_from_memory(model, 0, described, 0, 8) == BAD_DATA
    pixels = made(runtime.memory_create_from_a_hardware_buffer(Memory("hardware_buffer", 64, app.page.token), True))
    assert runtime.model_set_operand_value_from_memory(model, 0, pixels, 0, 8) == BAD_DATA
    succeed(runtime.model_set_operand_value_from_memory(model, 0, memory, 8, 8))


def test_channel_parameters() -> None:
    app = App()
    per_channel = OperandDescription(T.TENSOR_QUANT8_SYMM_PER_CHANNEL, 2, (2, 0))
    model, setter = app.model(per_channel, VECTOR), app.runtime.model_set_operand_symm_per_channel_quant_params
    for index, described in (
        (1, PerChannelDescription(0, 2, (1.0, 1.0))),
        (2, PerChannelDescription(0, 2, (1.0, 1.0))),
        (0, PerChannelDescription(2, 2, (1.0, 1.0))),
        (0, PerChannelDescription(0, 1, (1.0,))),
        (0, PerChannelDescription(0, 2, (1.0, 0.0))),
        (0, PerChannelDescription(0, 2, (1.0, -1.0))),
        (0, PerChannelDescription(0, 2, None)),
        (0, PerChannelDescription(1, 0, ())),
    ):
        assert setter(model, index, described) == BAD_DATA
    succeed(setter(model, 0, PerChannelDescription(0, 2, (1.0, 0.5))))


def test_operations() -> None:
    app = App()
    model, add = app.model(VECTOR, VECTOR, ACTIVATION, VECTOR), app.runtime.model_add_operation
    assert add(model, OperationType.ADD, None, (3,)) == NULL
    assert add(model, OperationType.ADD, (0, 1, 2), ()) == BAD_DATA
    assert add(model, 106, (0, 1, 2), (3,)) == BAD_DATA
    assert add(model, OperationType.ADD, (0, 1, 4), (3,)) == BAD_DATA
    assert add(model, OperationType.ADD, (0, 1), (3,)) == BAD_DATA
    assert add(model, OperationType.ADD, (0, 1, 0), (3,)) == BAD_DATA
    assert add(model, 0x10000, (0, 1), (3,)) == BAD_DATA


def test_identifying() -> None:
    app = App()
    model, identify = app.addition(finish=False), app.runtime.model_identify_inputs_and_outputs
    assert identify(model, (0,), (3,)) == BAD_DATA, "they are inputs and outputs already"
    fresh = app.model(VECTOR, VECTOR)
    succeed(app.runtime.model_set_operand_value(fresh, 1, app.at(0), 8))
    for inputs, outputs in (((0,), (0,)), ((0, 0), (1,)), ((0,), (1,)), ((2,), (0,))):
        assert identify(fresh, inputs, outputs) == BAD_DATA
    assert identify(fresh, None, (0,)) == NULL


def without_operations(app: App) -> int:
    model = app.model(VECTOR, VECTOR)
    succeed(app.runtime.model_identify_inputs_and_outputs(model, (0,), (1,)))
    return model


def chain(app: App, *operations: tuple[int, int], inputs: tuple[int, ...] = (0,), outputs: tuple[int, ...]) -> int:
    """A model of RELUs, each given by the operand that it reads and the one that it writes."""
    model = app.model(*[VECTOR] * 4)
    for source, target in operations:
        succeed(app.runtime.model_add_operation(model, OperationType.RELU, (source,), (target,)))
    succeed(app.runtime.model_identify_inputs_and_outputs(model, inputs, outputs))
    return model


@pytest.mark.parametrize(
    "build",
    [
        without_operations,
        lambda app: chain(app, (0, 3), (1, 2), (2, 1), outputs=(3,)),
        lambda app: chain(app, (0, 3), (1, 2), outputs=(3, 2)),
        lambda app: chain(app, (0, 3), (0, 3), (0, 1), (1, 2), outputs=(3,)),
    ],
    ids=["no operation", "circle", "never written", "written twice"],
)
def test_models_that_finish_refuses_are_invalid_for_ever(build: Callable[[App], int]) -> None:
    app = App()
    model = build(app)
    assert app.runtime.model_finish(model) == BAD_DATA
    assert app.runtime.model_finish(model) == BAD_STATE
    assert app.runtime.model_add_operand(model, VECTOR) == BAD_STATE
    assert app.runtime.compilation_create(model, True).result == BAD_STATE


def test_operations_need_not_be_in_order() -> None:
    app = App(devices=[ScriptedDevice("a", supports=(True, False, True))])
    model = chain(app, (2, 3), (0, 1), (1, 2), outputs=(3,))
    succeed(app.runtime.model_finish(model))
    finished = wire_of(app, model).check_finished()
    assert finished.order == (1, 2, 0)
    assert [operation.inputs for operation in finished.wire.main.operations] == [(0,), (1,), (2,)]
    device = made(app.runtime.get_device(0, True))
    answer = app.runtime.model_get_supported_operations_for_devices(model, (device,), True)
    assert answer.values == (True, True, False), "in the order in which they were added"


def test_small_values_are_copied_at_once_and_large_ones_at_finish() -> None:
    app = App()
    large = OperandDescription(T.TENSOR_FLOAT32, 1, (33,))
    model = app.model(large, large, ACTIVATION, large)
    app.at(0, bytes(132)), app.at(200, struct.pack("<i", 1))
    succeed(app.runtime.model_set_operand_value(model, 1, app.at(0), 132))
    succeed(app.runtime.model_set_operand_value(model, 2, app.at(200), 4))
    app.at(0, b"\x07" * 132), app.at(200, struct.pack("<i", 2))
    succeed(app.runtime.model_add_operation(model, OperationType.ADD, (0, 1, 2), (3,)))
    succeed(app.runtime.model_identify_inputs_and_outputs(model, (0,), (3,)))
    succeed(app.runtime.model_finish(model))
    app.at(0, bytes(132))
    wire = wire_of(app, model).check_finished().wire
    one, activation = wire.main.operands[1], wire.main.operands[2]
    assert (one.lifetime, activation.lifetime) == (OperandLifeTime.CONSTANT_POOL, OperandLifeTime.CONSTANT_COPY)
    assert bytes(app.pools.map(wire.pools[0])[:132]) == b"\x07" * 132
    assert wire.operand_values[:4] == struct.pack("<i", 1)


def test_the_pool_of_large_values_goes_with_the_last_that_needs_it() -> None:
    app = App()
    before = len(app.memory.contents)
    large = OperandDescription(T.TENSOR_FLOAT32, 1, (33,))
    model = app.model(large, large, ACTIVATION, large)
    succeed(app.runtime.model_set_operand_value(model, 1, app.at(0), 132))
    succeed(app.runtime.model_set_operand_value(model, 2, app.at(0), 4))
    succeed(app.runtime.model_add_operation(model, OperationType.ADD, (0, 1, 2), (3,)))
    succeed(app.runtime.model_identify_inputs_and_outputs(model, (0,), (3,)))
    succeed(app.runtime.model_finish(model))
    compilation = made(app.runtime.compilation_create(model, True))
    app.runtime.model_free(model)
    assert len(app.memory.contents) == before + 1
    app.runtime.compilation_free(compilation)
    assert len(app.memory.contents) == before


def test_trailing_defaults_are_stripped() -> None:
    app = App()
    axis = app.at(0, struct.pack("<i", -1))
    beta = OperandDescription(T.FLOAT32)
    model = app.model(VECTOR, beta, ACTIVATION, VECTOR)
    succeed(app.runtime.model_set_operand_value(model, 1, app.at(64, struct.pack("<f", 1)), 4))
    succeed(app.runtime.model_set_operand_value(model, 2, axis, 4))
    succeed(app.runtime.model_add_operation(model, OperationType.SOFTMAX, (0, 1, 2), (3,)))
    succeed(app.runtime.model_identify_inputs_and_outputs(model, (0,), (3,)))
    succeed(app.runtime.model_finish(model))
    main = wire_of(app, model).check_finished().wire.main
    assert main.operations[0].inputs == (0, 1)
    assert (len(main.operands), main.output_indexes) == (3, (2,))


def branches(app: App, then: int, otherwise: int, result: ResultCode = ResultCode.NO_ERROR) -> int:
    """A model of one IF. result: of adding the operation; a model that takes it is finished."""
    condition = OperandDescription(T.TENSOR_BOOL8, 1, (1,))
    graph = OperandDescription(T.SUBGRAPH)
    model = app.model(condition, graph, graph, VECTOR, VECTOR, VECTOR)
    succeed(app.runtime.model_set_operand_value_from_model(model, 1, then))
    succeed(app.runtime.model_set_operand_value_from_model(model, 2, otherwise))
    assert app.runtime.model_add_operation(model, OperationType.IF, (0, 1, 2, 3, 4), (5,)) == result
    if result == ResultCode.NO_ERROR:
        succeed(app.runtime.model_identify_inputs_and_outputs(model, (0, 3, 4), (5,)))
        succeed(app.runtime.model_finish(model))
    return model


def test_graphs_that_a_model_refers_to_come_along() -> None:
    app = App()
    inner = branches(app, app.addition(), app.addition())
    wire = wire_of(app, inner).check_finished().wire
    assert len(wire.referenced) == 2
    shared = app.addition()
    assert len(wire_of(app, branches(app, shared, shared)).check_finished().wire.referenced) == 1


def test_branches_with_another_signature_are_refused() -> None:
    app = App()
    branches(app, app.addition(OperandDescription(T.TENSOR_FLOAT32, 1, (3,))), app.addition(), BAD_DATA)


def test_models_to_refer_to_must_be_finished() -> None:
    app = App()
    model, value = app.model(OperandDescription(T.SUBGRAPH)), app.addition(finish=False)
    assert app.runtime.model_set_operand_value_from_model(model, 0, value) == BAD_STATE
    succeed(app.runtime.model_finish(value))
    assert app.runtime.model_set_operand_value_from_model(model, 1, value) == BAD_DATA


def test_operations_without_operands_are_refused_from_feature_level_5_on() -> None:
    for level, result in ((Version.V1_3, ResultCode.NO_ERROR), (Version.FL5, BAD_DATA)):
        app = App(level)
        model = app.model(VECTOR)
        operation = app.runtime.model_get_extension_operation_type(model, "com.vendor.noise", 0, True).value
        assert app.runtime.model_add_operation(model, operation, (), (0,)) == result


def test_a_model_of_constants_alone_has_no_inputs() -> None:
    app = App()
    model = app.model(VECTOR, VECTOR)
    succeed(app.runtime.model_set_operand_value(model, 0, app.at(0), 8))
    succeed(app.runtime.model_add_operation(model, OperationType.RELU, (0,), (1,)))
    succeed(app.runtime.model_identify_inputs_and_outputs(model, (), (1,)))
    succeed(app.runtime.model_finish(model))


def test_a_model_without_outputs_cannot_be_finished() -> None:
    app = App()
    model = app.model(VECTOR, VECTOR)
    succeed(app.runtime.model_add_operation(model, OperationType.RELU, (0,), (1,)))
    succeed(app.runtime.model_identify_inputs_and_outputs(model, (0,), ()))
    assert app.runtime.model_finish(model) == BAD_DATA
