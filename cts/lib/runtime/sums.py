"""Executions of a + b over floats with values of the case's own, and one that fails when it is computed."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from npu_conformance.cts.lib.runtime.fixture import VECTOR, VECTOR_BYTES, RuntimeApp
from npu_conformance.cts.lib.runtime.ways import compute
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, Pointer
from npu_conformance.specs.versions import Version

Floats = tuple[float, ...]
FIRST, SECOND, TOTAL = (1.5, -2.0), (0.25, 4.0), (1.75, 2.0)
"""Values that every legal device adds exactly."""


def packed(values: Sequence[float]) -> bytes:
    """Floats as they lie in memory."""
    return struct.pack(f"<{len(values)}f", *values)


def unpacked(data: bytes) -> Floats:
    """The floats in memory."""
    return struct.unpack(f"<{len(data) // 4}f", data)


@dataclass(frozen=True, slots=True)
class Sum:
    """An execution of a + b. first, second, output: where its arguments lie."""

    app: RuntimeApp
    execution: int
    compilation: int
    first: Pointer
    second: Pointer
    output: Pointer

    def computes(self, way: str = "", expected: Floats = TOTAL) -> None:
        """Compute in one of the ways, the plainest where none is named, and check the result."""
        code = compute(self.app, way, self.execution, self.compilation) if way else self.app.compute(self.execution)
        self.app.expect(f"{way or 'compute'}, the result", code)
        self.check(expected)

    def check(self, expected: Floats = TOTAL) -> None:
        """Check what lies where the output goes."""
        checks.equal(unpacked(self.app.memory.read(self.output, VECTOR_BYTES)), expected, "the sum")

    def put(self, first: Floats, second: Floats = SECOND) -> None:
        """Write other addends where the inputs lie, and nothing where the sum goes."""
        self.app.memory.write(self.first, packed(first))
        self.app.memory.write(self.second, packed(second))
        self.app.memory.write(self.output, b"\xa5" * VECTOR_BYTES)


def execution_of_sum(
    app: RuntimeApp,
    compilation: int,
    first: Floats | Pointer = FIRST,
    second: Floats | Pointer = SECOND,
    *,
    reusable: bool = False,
) -> Sum:
    """An execution with all its arguments. An addend may lie where another execution writes."""
    execution = app.execution(compilation)
    if reusable:
        app.succeed("execution_set_reusable", execution, True)
    left, right = (
        addend if isinstance(addend, Pointer) else place(app.memory, packed(addend)) for addend in (first, second)
    )
    for index, pointer in enumerate((left, right)):
        app.succeed("execution_set_input", execution, index, None, pointer, VECTOR_BYTES)
    output = place(app.memory, b"\xa5" * VECTOR_BYTES)
    app.succeed("execution_set_output", execution, 0, None, output, VECTOR_BYTES)
    return Sum(app, execution, compilation, left, right, output)


def compilation_of_sum(
    app: RuntimeApp,
    operand: OperandDescription = VECTOR,
    output: OperandDescription | None = None,
    devices: tuple[int, ...] = (),
) -> int:
    """A finished compilation of a + b."""
    return app.finished_compilation(app.finished_model(operand, output), devices)


def devices_to_name(app: RuntimeApp) -> dict[str, int]:
    """Every device by a name that a configuration can have; none where the feature level cannot name any."""
    if app.level < Version.V1_2:
        return {}
    return {f"device{number}": device for number, device in enumerate(app.devices())}


def supports_sum(app: RuntimeApp, model: int, device: int) -> bool:
    """Whether a device supports the model of a + b; it need not (FW-PRT-008)."""
    answer = app.succeed("model_get_supported_operations_for_devices", model, (device,), True)
    return all(answer.values)


def need_sum(app: RuntimeApp, model: int, device: int) -> None:
    """NotSupported where a device does not support the model of a + b; the CPU does."""
    if device != app.cpu() and not supports_sum(app, model, device):
        raise NotSupported("the device does not support ADD of TENSOR_FLOAT32")


def failing_compilation(app: RuntimeApp, devices: tuple[int, ...] = ()) -> int:
    """RESHAPE of four floats to a shape that is an input; `failing_execution` asks for one of three elements."""
    return compilation_of_reshape(app, devices)


def compilation_of_reshape(
    app: RuntimeApp, devices: tuple[int, ...] = (), *, rank: int = 1, output: OperandDescription | None = None
) -> int:
    """RESHAPE of four floats to a shape of a rank, which is an input. output: in place of four floats."""
    model = app.empty_model()
    shape = OperandDescription(OperandType.TENSOR_INT32, 1, (rank,))
    four = OperandDescription(OperandType.TENSOR_FLOAT32, 1, (4,))
    for description in (four, shape, output or four):
        app.succeed("model_add_operand", model, description)
    app.succeed("model_add_operation", model, OperationType.RESHAPE, (0, 1), (2,))
    app.succeed("model_identify_inputs_and_outputs", model, (0, 1), (2,))
    app.succeed("model_finish", model)
    return app.finished_compilation(model, devices)


def failing_execution(app: RuntimeApp, compilation: int, *, elements: int = 3, sets_output: bool = True) -> int:
    """An execution that fails, since four elements are no three. elements: 4 for one that succeeds.

    sets_output: false where the case says where the output goes.
    """
    execution = app.execution(compilation)
    data, shape = place(app.memory, packed((1, 2, 3, 4))), place(app.memory, struct.pack("<i", elements))
    app.succeed("execution_set_input", execution, 0, None, data, 16)
    app.succeed("execution_set_input", execution, 1, None, shape, 4)
    if sets_output:
        app.succeed("execution_set_output", execution, 0, None, place(app.memory, bytes(16)), 16)
    return execution
