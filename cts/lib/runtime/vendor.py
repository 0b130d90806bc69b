"""Vendor extensions, as an app uses them by name: Fibonacci numbers, of which the project has kernels.

A scripted driver that lists the extension computes it; the model goes through the C API, with the codes that the
runtime gives for the names.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp, result_of
from npu_conformance.cts.lib.runtime.scripts import FAST
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription
from npu_conformance.specs.neuralnetworks.types import Extension, ExtensionOperandTypeInformation

FIBONACCI = "com.npu_conformance.fibonacci"
ECHO = "com.npu_conformance.echo"
COUNT_TYPE, NUMBERS_TYPE = 0, 1
NUMBERS_OPERATION, DEQUANTIZE_OPERATION = 0, 1
ECHO_TYPE = 1
PREFIX_BITS = 16

_COUNT_INFORMATION = ExtensionOperandTypeInformation(COUNT_TYPE, is_tensor=False, byte_size=8)
_NUMBERS_INFORMATION = ExtensionOperandTypeInformation(NUMBERS_TYPE, is_tensor=True, byte_size=8)
TYPES = (_COUNT_INFORMATION, _NUMBERS_INFORMATION)
PARAMETERS = struct.pack("<dq", 0.5, 10)
"""Scale and zero point of the numbers."""

ELEMENTS = 8
VALUES = (0.0, 1.0, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0)


def lists(
    name: str, *types: ExtensionOperandTypeInformation, extension: str = FIBONACCI, **fields: Any
) -> DriverScript:
    """A driver that lists an extension, with the operand types of Fibonacci where none are given."""
    return DriverScript(name, extensions=(Extension(extension, types or TYPES),), exec_time=FAST, **fields)


def type_code(app: RuntimeApp, model: int, code: int, extension: str = FIBONACCI) -> int:
    """The code of an operand type of an extension."""
    found: int = app.succeed("model_get_extension_operand_type", model, extension, code, True).value
    return found


def operation_code(app: RuntimeApp, model: int, code: int) -> int:
    """The code of an operation of the Fibonacci extension."""
    found: int = app.succeed("model_get_extension_operation_type", model, FIBONACCI, code, True).value
    return found


@dataclass
class FibonacciModel:
    """FIBONACCI and FIBONACCI_DEQUANTIZE: the first eight numbers as floats.

    Operands: 0 the count, 1 the numbers, 2 the floats; with has_add, an ADD of zeros, 3 to 5. A count that is given
    when it is built is a constant; then the input is what is added. parameters: several are set one after the other;
    empty for none.
    """

    app: RuntimeApp
    parameters: bytes | tuple[bytes, ...] = PARAMETERS
    has_add: bool = False

    def built(self, count: int = 0) -> int:
        """The finished model."""
        app, model = self.app, self.app.empty_model()
        floats = OperandDescription(int(OperandType.TENSOR_FLOAT32), 1, (ELEMENTS,))
        numbers = OperandDescription(type_code(app, model, NUMBERS_TYPE), 1, (ELEMENTS,))
        for operand in (OperandDescription(type_code(app, model, COUNT_TYPE)), numbers, floats):
            app.succeed("model_add_operand", model, operand)
        self._set_parameters(model)
        app.succeed("model_add_operation", model, operation_code(app, model, NUMBERS_OPERATION), (0,), (1,))
        app.succeed("model_add_operation", model, operation_code(app, model, DEQUANTIZE_OPERATION), (1,), (2,))
        if count:
            app.succeed("model_set_operand_value", model, 0, place(app.memory, struct.pack("<q", count)), 8)
        if self.has_add:
            self._add(model, floats, is_input=bool(count))
        app.succeed("model_identify_inputs_and_outputs", model, (3 if count else 0,), (5 if self.has_add else 2,))
        app.succeed("model_finish", model)
        return model

    def _set_parameters(self, model: int) -> None:
        for content in (self.parameters,) if isinstance(self.parameters, bytes) else self.parameters:
            data = place(self.app.memory, content) if content else None
            self.app.succeed("model_set_operand_extension_data", model, 1, data, len(content))
            if data is not None:
                self.app.memory.write(data, bytes(len(content)))  # the runtime has copied it (FW-EXT-012)

    def _add(self, model: int, floats: OperandDescription, *, is_input: bool) -> None:
        app = self.app
        for operand in (floats, OperandDescription(int(OperandType.INT32)), floats):
            app.succeed("model_add_operand", model, operand)
        for index, size in ((4, 4),) if is_input else ((3, 4 * ELEMENTS), (4, 4)):
            app.succeed("model_set_operand_value", model, index, place(app.memory, bytes(size)), size)
        app.succeed("model_add_operation", model, 0, (2, 3, 4), (5,))


def branching_model(app: RuntimeApp) -> int:
    """IF of a condition: the Fibonacci numbers, added to eight floats, or these floats added to themselves.

    The extension is in a branch alone. Operands: 0 the condition, 1 and 2 the branches, 3 the floats, 4 the result.
    """
    floats = OperandDescription(int(OperandType.TENSOR_FLOAT32), 1, (ELEMENTS,))
    branches = _numbers_added(app), _doubled(app, floats)
    model = app.empty_model()
    subgraph = OperandDescription(int(OperandType.SUBGRAPH))
    condition = OperandDescription(int(OperandType.TENSOR_BOOL8), 1, (1,))
    for operand in (condition, subgraph, subgraph, floats, floats):
        app.succeed("model_add_operand", model, operand)
    for index, branch in enumerate(branches):
        app.succeed("model_set_operand_value_from_model", model, 1 + index, branch)
    app.succeed("model_add_operation", model, OperationType.IF, (0, 1, 2, 3), (4,))
    app.succeed("model_identify_inputs_and_outputs", model, (0, 3), (4,))
    app.succeed("model_finish", model)
    return model


def _numbers_added(app: RuntimeApp) -> int:
    """A branch: the eight numbers, whose count is a constant, and the input."""
    model = FibonacciModel(app, has_add=True)
    return model.built(count=ELEMENTS)


def _doubled(app: RuntimeApp, floats: OperandDescription) -> int:
    """A branch: the input, and the input once more."""
    model = app.empty_model()
    for operand in (floats, OperandDescription(int(OperandType.INT32)), floats):
        app.succeed("model_add_operand", model, operand)
    app.succeed("model_set_operand_value", model, 1, place(app.memory, bytes(4)), 4)
    app.succeed("model_add_operation", model, OperationType.ADD, (0, 0, 1), (2,))
    app.succeed("model_identify_inputs_and_outputs", model, (0,), (2,))
    app.succeed("model_finish", model)
    return model


def fibonacci_numbers(
    app: RuntimeApp, compilation: int, count: int = ELEMENTS, *, execution: int = 0
) -> tuple[int, tuple[float, ...]]:
    """Execute a compilation of a FibonacciModel; returns the code and the numbers. execution: where there is one."""
    execution = execution or app.execution(compilation)
    given = place(app.memory, struct.pack("<q", count))
    app.succeed("execution_set_input", execution, 0, None, given, 8)
    output = place(app.memory, bytes(4 * ELEMENTS))
    app.succeed("execution_set_output", execution, 0, None, output, 4 * ELEMENTS)
    result = app.compute(execution)
    return result, struct.unpack(f"<{ELEMENTS}f", app.memory.read(output, 4 * ELEMENTS))


def is_usable(app: RuntimeApp, extension: str = FIBONACCI) -> bool:
    """Whether an app can build a model with an extension: it gets codes, and may add operands of them."""
    model = app.empty_model()
    answer = app.call("model_get_extension_operand_type", model, extension, NUMBERS_TYPE, True)
    if result_of(answer) != ResultCode.NO_ERROR:
        return False
    operand = OperandDescription(answer.value, 1, (ELEMENTS,))
    added: int = app.call("model_add_operand", model, operand)
    return added == ResultCode.NO_ERROR
