"""Constants of models: copied, kept by their pointer until the model is finished, and in memory objects."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.fixture import ACTIVATION, RuntimeApp
from npu_conformance.cts.lib.runtime.memories import object_of
from npu_conformance.cts.lib.runtime.sums import packed, unpacked
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, Pointer
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.memory.constants", interface="runtime")

_SIZES = {"one": 1, "copied": 32, "kept": 33, "large": 5_000}
"""Elements of the constant: up to 128 bytes it is copied at once."""


def _model(app: RuntimeApp, elements: int) -> int:
    """The operands of input + constant, with nothing set. Operands: 0 input, 1 constant, 2 activation, 3 output."""
    return app.operands_of_add(OperandDescription(OperandType.TENSOR_FLOAT32, 1, (elements,)))


def _finish(app: RuntimeApp, model: int) -> int:
    app.succeed("model_add_operation", model, OperationType.ADD, (0, 1, 2), (3,))
    app.succeed("model_identify_inputs_and_outputs", model, (0,), (3,))
    app.succeed("model_finish", model)
    return model


def _adds(app: RuntimeApp, model: int, constant: tuple[float, ...]) -> None:
    """Compile and compute; the sum has to be that of the constant."""
    execution, size = app.execution(app.finished_compilation(model)), 4 * len(constant)
    addend = tuple(float(index % 7) for index in range(len(constant)))
    output = place(app.memory, bytes(size))
    app.succeed("execution_set_input", execution, 0, None, place(app.memory, packed(addend)), size)
    app.succeed("execution_set_output", execution, 0, None, output, size)
    app.expect("compute", app.compute(execution))
    expected = tuple(one + other for one, other in zip(addend, constant, strict=True))
    checks.equal(unpacked(app.memory.read(output, size)), expected, "the sum")


def _values(elements: int) -> tuple[float, ...]:
    return tuple(float(index % 5 + 1) for index in range(elements))


@cases.case("by_pointer", "FW-MDL-015", "FW-MDL-016")
def by_pointer(context: CaseContext) -> None:
    """What lies behind the pointer of a constant when its model is finished counts, whatever the app writes then."""
    app = RuntimeApp(context)
    for name, elements in _SIZES.items():
        with context.configuration(name):
            model, values = _model(app, elements), _values(elements)
            pointer = place(app.memory, packed(values))
            app.succeed("model_set_operand_value", model, 1, pointer, 4 * elements)
            _finish(app, model)
            app.memory.write(pointer, b"\xff" * (4 * elements))
            _adds(app, model, values)


@cases.case("copied_at_once", "FW-MDL-015")
def copied_at_once(context: CaseContext) -> None:
    """A constant of up to 128 bytes is copied when it is set: the buffer is free for other things at once."""
    app = RuntimeApp(context)
    for name, elements in _SIZES.items():
        if 4 * elements > 128:
            continue
        with context.configuration(name):
            model, values = _model(app, elements), _values(elements)
            pointer = place(app.memory, packed(values))
            app.succeed("model_set_operand_value", model, 1, pointer, 4 * elements)
            app.memory.write(pointer, b"\xff" * (4 * elements))
            _adds(app, _finish(app, model), values)


@cases.case("in_memory", "FW-MDL-017", "FW-MDL-029")
def in_memory(context: CaseContext) -> None:
    """Constants in one memory object, at several offsets, serve several models."""
    app = RuntimeApp(context)
    pool = context.pool(40_000)
    memory, offset = object_of(app, pool.memory), 4
    for name, elements in _SIZES.items():
        with context.configuration(name):
            model, values = _model(app, elements), _values(elements)
            pool.write(offset, packed(values))
            app.succeed("model_set_operand_value_from_memory", model, 1, memory, offset, 4 * elements)
            offset += 4 * elements + 12
            _adds(app, _finish(app, model), values)


@cases.case("overlapping", "FW-MDL-015", "FW-MDL-016", "FW-MDL-017")
def overlapping(context: CaseContext) -> None:
    """Constants that begin at one byte, or within another, have each its own length, by pointer and in memory."""
    for name, columns in {"copied": 4, "kept": 40}.items():
        for how in ("by_pointer", "in_memory", "one_elsewhere"):
            with context.configuration(f"{name}.{how}"):
                _judge_overlapping(RuntimeApp(context), columns, how)


def _judge_overlapping(app: RuntimeApp, columns: int, how: str) -> None:
    """Input + two rows, + the first of them, + the second, all of which lie where the two rows lie.

    one_elsewhere: the second lies behind a pointer of its own, which is said between the others.
    """
    rows, row = (OperandDescription(OperandType.TENSOR_FLOAT32, 2, (count, columns)) for count in (2, 1))
    size, model = 4 * columns, app.empty_model()
    for described in (rows, rows, row, row, ACTIVATION, rows, rows, rows):
        app.succeed("model_add_operand", model, described)
    values = tuple(float(index % 7) for index in range(2 * columns))
    memory, _ = app.shared_memory(2 * size, packed(values))
    pointer = place(app.memory, packed(values))
    app.succeed("model_set_operand_value", model, 4, place(app.memory, bytes(4)), 4)
    for index, offset, length in ((2, 0, size), (3, size, size), (1, 0, 2 * size)):
        if how == "in_memory":
            app.succeed("model_set_operand_value_from_memory", model, index, memory, offset, length)
        elif how == "one_elsewhere" and index == 3:
            app.succeed("model_set_operand_value", model, index, place(app.memory, packed(values[columns:])), length)
        else:
            at = Pointer(pointer.memory, pointer.offset + offset)
            app.succeed("model_set_operand_value", model, index, at, length)
    for inputs, output in (((0, 1, 4), 5), ((5, 2, 4), 6), ((6, 3, 4), 7)):
        app.succeed("model_add_operation", model, OperationType.ADD, inputs, (output,))
    app.succeed("model_identify_inputs_and_outputs", model, (0,), (7,))
    app.succeed("model_finish", model)
    both = tuple(one + other for one, other in zip(values[:columns], values[columns:], strict=True))
    _adds(app, model, tuple(one + other for one, other in zip(values, both * 2, strict=True)))


@cases.case("also_argument", "FW-MDL-029")
def also_argument(context: CaseContext) -> None:
    """One memory object holds the constant of a model and the arguments of its executions."""
    app = RuntimeApp(context)
    model, values = _model(app, 2), (3.0, 5.0)
    memory, pool = app.shared_memory(24, packed(values) + packed((1.0, 2.0)))
    app.succeed("model_set_operand_value_from_memory", model, 1, memory, 0, 8)
    execution = app.execution(app.finished_compilation(_finish(app, model)))
    app.succeed("execution_set_input_from_memory", execution, 0, None, memory, 8, 8)
    app.succeed("execution_set_output_from_memory", execution, 0, None, memory, 16, 8)
    app.expect("compute", app.compute(execution))
    checks.equal(unpacked(pool.read(16, 8)), (4.0, 7.0), "the sum")


@cases.case("in_hardware_buffer", "FW-MEM-013", since=Version.V1_2)
def in_hardware_buffer(context: CaseContext) -> None:
    """A constant lies in a hardware buffer of the BLOB format."""
    app = RuntimeApp(context)
    pool = context.pool(64, "hardware_buffer_blob")
    pool.write(16, packed((3.0, 5.0)))
    memory = app.made("memory_create_from_a_hardware_buffer", pool.memory, True)
    model = _model(app, 2)
    app.succeed("model_set_operand_value_from_memory", model, 1, memory, 16, 8)
    _adds(app, _finish(app, model), (3.0, 5.0))
