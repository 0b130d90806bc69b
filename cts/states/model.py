"""Models: building, finished, invalid."""

from __future__ import annotations

import itertools
import struct

from npu_conformance.cts.lib.runtime.fixture import ACTIVATION, ADDENDS, SUM, VECTOR, VECTOR_BYTES, RuntimeApp
from npu_conformance.cts.lib.runtime.legal.models import (
    branch,
    finish,
    referring_model,
)
from npu_conformance.cts.lib.runtime.refusals import refuses
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.app import UNKNOWN_DIMENSION, UNKNOWN_RANK
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, Pointer
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.states.model", interface="runtime", group=Group.RUNTIME_MODELS)

_CHANGES = (
    "model_add_operand", "model_set_operand_value", "model_set_operand_value_from_memory",
    "model_set_operand_value_from_model", "model_set_operand_symm_per_channel_quant_params", "model_add_operation",
    "model_identify_inputs_and_outputs", "model_relax_computation_float32_to_float16", "model_finish",
)  # fmt: skip
_USES = ("compilation_create", "compilation_create_for_devices", "model_get_supported_operations_for_devices")
_THRICE_THE_SUM = (((0, 1, 2), (4,)), ((4, 4, 2), (5,)), ((4, 5, 2), (3,)))
"""Operands that three ADDs read and write: the last one reads what both others have written."""
_LONG = 100
"""Floats of a constant that is too long to be copied at once."""


@cases.case("building_cannot_be_used", "FW-CMP-001", "FW-MDL-028")
def building_cannot_be_used(context: CaseContext) -> None:
    """A model that is being built is neither compiled nor asked about, and goes on to be built."""
    app = RuntimeApp(context)
    model = app.building_model()
    refuses(app, _USES, "model", model, ResultCode.BAD_STATE)
    finish(app, model)


@cases.case("building_is_no_value", "FW-MDL-020", since=Version.V1_3)
def building_is_no_value(context: CaseContext) -> None:
    """A model that is being built, or is invalid, is no branch of another; once it is finished, it is."""
    app = RuntimeApp(context)
    model, value = referring_model(app), branch(app, finished=False)
    function = "model_set_operand_value_from_model"
    app.refused(function, ResultCode.BAD_STATE, model, 1, value)
    app.refused(function, ResultCode.BAD_STATE, model, 1, app.invalid_model())
    app.succeed("model_finish", value)
    app.succeed(function, model, 1, value)


@cases.case("finished_refuses_changes", "FW-MDL-001", "FW-MDL-025")
def finished_refuses_changes(context: CaseContext) -> None:
    """A finished model refuses every change, and still computes the same."""
    app = RuntimeApp(context)
    model = app.finished_model()
    refuses(app, _CHANGES, "model", model, ResultCode.BAD_STATE)
    app.computes(app.ready_execution(app.finished_compilation(model)))


@cases.case("invalid_refuses_everything", "FW-MDL-025", "FW-MDL-001", "FW-CMP-001")
def invalid_refuses_everything(context: CaseContext) -> None:
    """A model whose finish has failed refuses every change and every use."""
    app = RuntimeApp(context)
    model = app.invalid_model()
    refuses(app, (*_CHANGES, *_USES), "model", model, ResultCode.BAD_STATE)


@cases.case("freed_in_every_state", "FW-API-003")
def freed_in_every_state(context: CaseContext) -> None:
    """A model is freed empty, in building, invalid and finished, and disturbs no other."""
    app = RuntimeApp(context)
    kept = app.building_model()
    for make in (app.empty_model, app.operands_of_add, app.building_model, app.invalid_model, app.finished_model):
        app.free(make())
    finish(app, kept)


@cases.case("unknown_sizes_are_accepted", "FW-MDL-011")
def unknown_sizes_are_accepted(context: CaseContext) -> None:
    """Operands of unknown dimensions and, since feature level 3, of unknown rank are accepted in the building."""
    app = RuntimeApp(context)
    app.finished_model(UNKNOWN_DIMENSION)
    if app.level >= Version.V1_2:
        app.finished_model(UNKNOWN_RANK)


@cases.case("operations_in_any_order", "FW-MDL-024")
def operations_in_any_order(context: CaseContext) -> None:
    """An operation may be added before those that write what it reads, before some of them, and behind all."""
    app = RuntimeApp(context)
    expected = struct.pack("<2f", *(3 * value for value in struct.unpack("<2f", SUM)))
    for order in itertools.permutations(_THRICE_THE_SUM):
        with context.configuration("_".join(f"{outputs[0]}" for _, outputs in order)):
            model = app.empty_model()
            for described in (VECTOR, VECTOR, ACTIVATION, VECTOR, VECTOR, VECTOR):
                app.succeed("model_add_operand", model, described)
            app.succeed("model_set_operand_value", model, 2, place(app.memory, bytes(4)), 4)
            for inputs, outputs in order:
                app.succeed("model_add_operation", model, OperationType.ADD, inputs, outputs)
            app.succeed("model_identify_inputs_and_outputs", model, (0, 1), (3,))
            app.succeed("model_finish", model)
            execution = app.ready_execution(app.finished_compilation(model))
            app.expect("compute", app.compute(execution))
            checks.equal(app.memory.read(app.output_of(execution), VECTOR_BYTES), expected, "bytes of thrice the sum")


@cases.case("short_values_are_copied", "FW-MDL-015")
def short_values_are_copied(context: CaseContext) -> None:
    """A value of at most 128 bytes is copied when it is set: what the app writes there afterwards is not seen."""
    app = RuntimeApp(context)
    model, value = _with_constant(app, VECTOR, ADDENDS[1])
    app.memory.write(value, bytes(VECTOR_BYTES))
    app.succeed("model_finish", model)
    execution = app.execution(app.finished_compilation(model))
    app.succeed("execution_set_input", execution, 0, None, place(app.memory, ADDENDS[0]), VECTOR_BYTES)
    app.set_output(execution)
    app.computes(execution)


@cases.case("long_values_are_used", "FW-MDL-016")
def long_values_are_used(context: CaseContext) -> None:
    """A value of more than 128 bytes, which stays where it is until finish, is the one that is computed with."""
    app = RuntimeApp(context)
    vector = OperandDescription(OperandType.TENSOR_FLOAT32, 1, (_LONG,))
    first, second = (struct.pack(f"<{_LONG}f", *range(start, start + _LONG)) for start in (0, 7))
    model, _ = _with_constant(app, vector, second)
    app.succeed("model_finish", model)
    execution = app.execution(app.finished_compilation(model))
    output = place(app.memory, bytes(4 * _LONG))
    app.succeed("execution_set_input", execution, 0, None, place(app.memory, first), 4 * _LONG)
    app.succeed("execution_set_output", execution, 0, None, output, 4 * _LONG)
    app.expect("compute", app.compute(execution))
    expected = struct.pack(f"<{_LONG}f", *(2 * each + 7 for each in range(_LONG)))
    checks.equal(app.memory.read(output, 4 * _LONG), expected, "bytes of the sum of long vectors")


def _with_constant(app: RuntimeApp, vector: OperandDescription, data: bytes) -> tuple[int, Pointer]:
    """An ADD to which finish is missing, whose second addend is a constant; and where that lies."""
    model = app.operands_of_add(vector)
    value = place(app.memory, data)
    app.succeed("model_set_operand_value", model, 1, value, len(data))
    app.succeed("model_add_operation", model, OperationType.ADD, (0, 1, 2), (3,))
    app.succeed("model_identify_inputs_and_outputs", model, (0,), (3,))
    return model, value
