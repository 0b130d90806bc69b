"""Legal calls on a model that is being built. Behind each the model is finished, and what can run computes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

from npu_conformance.cts.lib.runtime.fixture import ACTIVATION, VECTOR, RuntimeApp
from npu_conformance.cts.lib.runtime.legal.devices import UNKNOWN_EXTENSION
from npu_conformance.cts.lib.runtime.legal.scene import MakeScene, Scene
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, PerChannelDescription

FILTER = OperandDescription(OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL, 4, (2, 1, 1, 1))
SCALES = PerChannelDescription(0, 2, (0.5, 0.25))
_IMAGE = OperandDescription(OperandType.TENSOR_QUANT8_ASYMM, 4, (1, 1, 1, 1), 0.5, 128)
_FEATURES = OperandDescription(OperandType.TENSOR_QUANT8_ASYMM, 4, (1, 1, 1, 2), 0.5, 128)
_BIAS = OperandDescription(OperandType.TENSOR_INT32, 1, (2,))
CONDITION, THEN, ELSE = range(3)
"""The first operands of the model with an IF."""


def finish_add(app: RuntimeApp, model: int) -> None:
    """Give a model that has the operands of an ADD all that is missing, and compute."""
    app.succeed("model_add_operation", model, OperationType.ADD, (0, 1, 2), (3,))
    identify(app, model)


def identify(app: RuntimeApp, model: int) -> None:
    """Identify the inputs and the output of an ADD, and go on."""
    app.succeed("model_identify_inputs_and_outputs", model, (0, 1), (3,))
    finish(app, model)


def finish(app: RuntimeApp, model: int) -> None:
    """Finish a model, and go on."""
    app.succeed("model_finish", model)
    computes(app, model)


def computes(app: RuntimeApp, model: int) -> None:
    """Compile a finished model of an ADD, and compute."""
    app.computes(app.ready_execution(app.finished_compilation(model)))


def operands_without_value(app: RuntimeApp, operand: OperandDescription = VECTOR) -> int:
    """A model with the operands of an ADD, the activation's value not set."""
    model = app.empty_model()
    for described in (operand, operand, ACTIVATION, operand):
        app.succeed("model_add_operand", model, described)
    return model


def per_channel_model(app: RuntimeApp, described: OperandDescription = FILTER) -> int:
    """A model whose operand 0 is the filter of a CONV_2D, without its scales."""
    model = app.empty_model()
    for operand in (described, _IMAGE, _BIAS, ACTIVATION, ACTIVATION, ACTIVATION, ACTIVATION, _FEATURES):
        app.succeed("model_add_operand", model, operand)
    app.succeed("model_set_operand_value", model, 2, place(app.memory, bytes(8)), 8)
    for index, value in enumerate((1, 1, 1, 0), 3):
        app.succeed("model_set_operand_value", model, index, place(app.memory, struct.pack("<i", value)), 4)
    return model


def add_convolution(app: RuntimeApp, model: int) -> None:
    """Add the CONV_2D of a per-channel model, and identify."""
    app.succeed("model_set_operand_value", model, 0, place(app.memory, bytes(2)), 2)
    app.succeed("model_add_operation", model, OperationType.CONV_2D, (1, 0, 2, 3, 4, 5, 6), (7,))
    app.succeed("model_identify_inputs_and_outputs", model, (1,), (7,))


def branch(app: RuntimeApp, *, finished: bool = True) -> int:
    """A model that a branch can be: RELU of a vector."""
    model = app.empty_model()
    for _ in range(2):
        app.succeed("model_add_operand", model, VECTOR)
    app.succeed("model_add_operation", model, OperationType.RELU, (0,), (1,))
    app.succeed("model_identify_inputs_and_outputs", model, (0,), (1,))
    if finished:
        app.succeed("model_finish", model)
    return model


def referring_model(app: RuntimeApp) -> int:
    """A model with the operands of an IF, without its branches."""
    model = app.empty_model()
    condition = OperandDescription(OperandType.TENSOR_BOOL8, 1, (1,))
    graph = OperandDescription(OperandType.SUBGRAPH)
    for operand in (condition, graph, graph, VECTOR, VECTOR):
        app.succeed("model_add_operand", model, operand)
    return model


def _add_operand(app: RuntimeApp) -> Scene:
    model = app.empty_model()

    def rest(answer: Any) -> None:
        for described in (VECTOR, ACTIVATION, VECTOR):
            app.succeed("model_add_operand", model, described)
        app.succeed("model_set_operand_value", model, 2, place(app.memory, bytes(4)), 4)
        finish_add(app, model)

    return Scene({"model": model, "type": VECTOR}, rest)


def set_value(model_of: Callable[[RuntimeApp], int] = operands_without_value) -> MakeScene:
    """Set the activation of an ADD."""

    def scene(app: RuntimeApp) -> Scene:
        model = model_of(app)
        value = {"index": 2, "buffer": place(app.memory, bytes(4)), "length": 4}
        return Scene({"model": model, **value}, lambda answer: finish_add(app, model))

    return scene


def _set_value_from_memory(app: RuntimeApp) -> Scene:
    model, (memory, _) = operands_without_value(app), app.shared_memory(16)
    value = {"index": 2, "memory": memory, "offset": 0, "length": 4}
    return Scene({"model": model, **value}, lambda answer: finish_add(app, model))


def _set_value_from_model(app: RuntimeApp) -> Scene:
    model, value = referring_model(app), branch(app)

    def rest(answer: Any) -> None:
        app.succeed("model_set_operand_value_from_model", model, ELSE, value)
        app.succeed("model_add_operation", model, OperationType.IF, (CONDITION, THEN, ELSE, 3), (4,))
        app.succeed("model_identify_inputs_and_outputs", model, (CONDITION, 3), (4,))
        app.succeed("model_finish", model)

    return Scene({"model": model, "index": THEN, "value": value}, rest)


def _set_scales(app: RuntimeApp) -> Scene:
    model = per_channel_model(app)

    def rest(answer: Any) -> None:
        add_convolution(app, model)
        app.succeed("model_finish", model)

    return Scene({"model": model, "index": 0, "channel_quant": SCALES}, rest)


def _add_operation(app: RuntimeApp) -> Scene:
    model = app.operands_of_add()
    operation = {"type": OperationType.ADD, "inputs": (0, 1, 2), "outputs": (3,)}
    return Scene({"model": model, **operation}, lambda answer: identify(app, model))


def _identify(app: RuntimeApp) -> Scene:
    model = app.operands_of_add()
    app.succeed("model_add_operation", model, OperationType.ADD, (0, 1, 2), (3,))
    return Scene({"model": model, "inputs": (0, 1), "outputs": (3,)}, lambda answer: finish(app, model))


def _relax(app: RuntimeApp) -> Scene:
    model = app.building_model()
    return Scene({"model": model, "allow": True}, lambda answer: finish(app, model))


def _finish(app: RuntimeApp) -> Scene:
    model = app.building_model()
    return Scene({"model": model}, lambda answer: computes(app, model))


def _supported(app: RuntimeApp) -> Scene:
    model = app.finished_model()
    arguments = {"model": model, "devices": app.devices(), "supported_ops": True}
    return Scene(arguments, lambda answer: computes(app, model))


def _extension_type(code: str) -> MakeScene:
    def scene(app: RuntimeApp) -> Scene:
        model = app.building_model()
        arguments = {"model": model, "extension_name": UNKNOWN_EXTENSION, code: 1, "type": True}
        return Scene(arguments, lambda answer: finish(app, model))

    return scene


SCENES: Mapping[str, MakeScene] = {
    "model_create": lambda app: Scene({"model": True}),
    "model_add_operand": _add_operand,
    "model_set_operand_value": set_value(),
    "model_set_operand_value_from_memory": _set_value_from_memory,
    "model_set_operand_value_from_model": _set_value_from_model,
    "model_set_operand_symm_per_channel_quant_params": _set_scales,
    "model_add_operation": _add_operation,
    "model_identify_inputs_and_outputs": _identify,
    "model_relax_computation_float32_to_float16": _relax,
    "model_finish": _finish,
    "model_get_supported_operations_for_devices": _supported,
    "model_get_extension_operand_type": _extension_type("operand_code_within_extension"),
    "model_get_extension_operation_type": _extension_type("operation_code_within_extension"),
}
