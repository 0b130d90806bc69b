"""What of a model that an app has built reaches a driver: constants by their size, the flag for relaxed computation."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.fixture import ACTIVATION, RuntimeApp
from npu_conformance.cts.lib.runtime.legal.models import CONDITION, ELSE, THEN, branch, referring_model
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript
from npu_conformance.specs.neuralnetworks.runtime.result_codes import MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.states.model", interface="runtime", group=Group.RUNTIME_MODELS)

_DRIVER = "npu-witness"


class _Witness:
    """A runtime over one driver that supports everything, and tells which models it prepared."""

    def __init__(self, context: CaseContext) -> None:
        self._control = context.present(context.subject.interfaces.runtime_control, "runtime_control")
        context.close_later(self)
        self._control.set_drivers((DriverScript(_DRIVER),))

    def close(self) -> None:
        """Give the runtime its drivers back."""
        self._control.reset()

    def prepared(self, app: RuntimeApp, model: int) -> Model:
        """Compile a model for the driver alone; returns it as the driver received it."""
        names = {app.succeed("device_get_name", each, True).value: each for each in app.devices()}
        app.finished_compilation(model, (names[_DRIVER],))
        models = [call.model for call in self._control.driver_calls(_DRIVER) if call.method.startswith("prepare_model")]
        found = models[-1] if models else None
        if found is None:
            checks.fail("models that the driver prepared", "one", "none")
        return found


@cases.case("constants_reach_the_driver", "FW-MDL-030", since=Version.V1_2)
def constants_reach_the_driver(context: CaseContext) -> None:
    """A constant of 128 bytes reaches the driver copied in the model, one of 132 and one in memory lie in pools."""
    witness = _Witness(context)
    app = RuntimeApp(context)
    most = MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES // 4
    copied, pooled = OperandLifeTime.CONSTANT_COPY, OperandLifeTime.CONSTANT_POOL
    for size, in_memory, lifetime in ((most, False, copied), (most + 1, False, pooled), (2, True, pooled)):
        received = witness.prepared(app, _with_constant(app, size, in_memory=in_memory))
        found = [operand.lifetime for operand in received.main.operands if operand.dimensions == (size,)]
        checks.member(lifetime, found, f"where a constant of {4 * size} bytes lies, among the lifetimes of its size")


def _with_constant(app: RuntimeApp, size: int, *, in_memory: bool) -> int:
    """An ADD of a vector and a constant."""
    vector = OperandDescription(OperandType.TENSOR_FLOAT32, 1, (size,))
    model = app.empty_model()
    for described in (vector, vector, ACTIVATION, vector):
        app.succeed("model_add_operand", model, described)
    app.succeed("model_set_operand_value", model, 2, place(app.memory, bytes(4)), 4)
    if in_memory:
        memory, _ = app.shared_memory(4 * size)
        app.succeed("model_set_operand_value_from_memory", model, 1, memory, 0, 4 * size)
    else:
        app.succeed("model_set_operand_value", model, 1, place(app.memory, bytes(4 * size)), 4 * size)
    app.succeed("model_add_operation", model, OperationType.ADD, (0, 1, 2), (3,))
    app.succeed("model_identify_inputs_and_outputs", model, (0,), (3,))
    app.succeed("model_finish", model)
    return model


@cases.case("main_model_relaxes", "FW-MDL-026", since=Version.V1_3)
def main_model_relaxes(context: CaseContext) -> None:
    """Whether the computation is relaxed is for the main model to say, whatever its branches say."""
    witness = _Witness(context)
    app = RuntimeApp(context)
    for relaxed in (False, True):
        value = branch(app, finished=False)
        app.succeed("model_relax_computation_float32_to_float16", value, not relaxed)
        app.succeed("model_finish", value)
        model = referring_model(app)
        for index in (THEN, ELSE):
            app.succeed("model_set_operand_value_from_model", model, index, value)
        app.succeed("model_add_operation", model, OperationType.IF, (CONDITION, THEN, ELSE, 3), (4,))
        app.succeed("model_identify_inputs_and_outputs", model, (CONDITION, 3), (4,))
        app.succeed("model_relax_computation_float32_to_float16", model, relaxed)
        app.succeed("model_finish", model)
        received = witness.prepared(app, model)
        checks.equal(received.relax_computation_float32_to_float16, relaxed, "the flag that the driver received")
