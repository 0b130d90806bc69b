"""A model with an OEM operation, which is nobody's but a driver's."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.fixture import ACTIVATION, VECTOR, RuntimeApp
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription


def oem_model(app: RuntimeApp, first: OperandDescription = VECTOR) -> int:
    """A model of one OEM_OPERATION. first: its first input."""
    model = app.empty_model()
    for described in (first, VECTOR, ACTIVATION, VECTOR):
        app.succeed("model_add_operand", model, described)
    app.succeed("model_set_operand_value", model, 2, place(app.memory, bytes(4)), 4)
    app.succeed("model_add_operation", model, int(OperationType.OEM_OPERATION), (0, 1, 2), (3,))
    app.succeed("model_identify_inputs_and_outputs", model, (0, 1), (3,))
    app.succeed("model_finish", model)
    return model
