"""Arguments of an execution, by pointer and by memory object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from npu_conformance.cts.lib.runtime.fixture import ADDENDS, VECTOR_BYTES, RuntimeApp
from npu_conformance.cts.lib.runtime.legal import Scene
from npu_conformance.cts.lib.runtime.legal.executions import set_input, set_output
from npu_conformance.cts.lib.runtime.misuse import (
    BAD_DATA,
    BAD_STATE,
    UNEXPECTED_NULL,
    Misuses,
    Object,
    misuses_of_executions,
)
from npu_conformance.cts.lib.runtime.objects import COMPLETED_EXECUTION, memory_of_pixels
from npu_conformance.harness.nnapi.app import UNKNOWN_DIMENSION
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import Case
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription
from npu_conformance.specs.versions import Version

_FLOAT = OperandType.TENSOR_FLOAT32
_INDEXES = ({"index": -1}, {"index": 2}, {"index": 999})
_INCONSISTENT = ({"type": OperandDescription(_FLOAT, 1)}, {"type": OperandDescription(_FLOAT, 0, (2,))})
_OVERRIDING = ({"type": OperandDescription(_FLOAT, 1, (3,))}, {"type": OperandDescription(_FLOAT, 2, (2, 1))})
_OVERFLOWING = OperandDescription(_FLOAT, 1, (1 << 30,))


def unknown_execution(app: RuntimeApp) -> int:
    """An execution of an ADD whose vectors have no known length."""
    return app.execution(app.finished_compilation(app.finished_model(UNKNOWN_DIMENSION)))


def _padded_execution(app: RuntimeApp) -> int:
    """An execution whose buffers may be longer than their operands."""
    execution = app.execution()
    app.succeed("execution_enable_input_and_output_padding", execution, True)
    return execution


def _with_inputs(app: RuntimeApp) -> int:
    """An execution whose inputs are set."""
    execution = app.execution()
    app.set_inputs(execution)
    return execution


def _goes_on_with_output(app: RuntimeApp, execution: int) -> None:
    app.set_output(execution)
    app.computes(execution)


def _pointers(role: str, scene: Callable[[Callable[[RuntimeApp], int]], Any]) -> Misuses:
    """Rows of setInput and setOutput."""
    table = misuses_of_executions(f"execution_set_{role}")
    padded = scene(_padded_execution)
    table.null("execution")
    table.row("null_buffer", UNEXPECTED_NULL, {"buffer": None}, of="FW-API-001")
    table.row("index", BAD_DATA, *_INDEXES, of="FW-EXE-004")
    table.row("length", BAD_DATA, {"length": 7}, {"length": 9}, {"length": 0}, of="FW-EXE-007")
    table.row("padded_too_short", BAD_DATA, {"length": 7}, of="FW-EXE-007", since=Version.FL5, scene=padded)
    table.row("padded", ResultCode.NO_ERROR, {"length": 64}, of="FW-EXE-007", since=Version.FL5, scene=padded)
    _types(table)
    return table


def _types(table: Misuses) -> None:
    table.row("inconsistent_type", BAD_DATA, *_INCONSISTENT, of="FW-EXE-005")
    table.row("overriding_type", BAD_DATA, *_OVERRIDING, of="FW-EXE-005")
    overflowing = {"execution": Object(unknown_execution), "type": _OVERFLOWING}
    table.row("overflowing_type", BAD_DATA, overflowing, of="FW-EXE-005")
    table.row("started", BAD_STATE, {"execution": COMPLETED_EXECUTION}, of="FW-EXE-002")


def _set_input() -> Misuses:
    table = _pointers("input", set_input)
    table.row("unknown_dimension", BAD_DATA, {"execution": Object(unknown_execution)}, of="FW-EXE-006")
    table.row("already_set", BAD_STATE, {"execution": Object(_with_inputs, _goes_on_with_output)}, of="FW-EXE-004")
    return table


def _set_output() -> Misuses:
    table = _pointers("output", set_output)
    open_size = {"execution": Object(unknown_execution), "type": None}
    lengths = ({**open_size, "length": length} for length in (0, 1 << 32))
    table.row("length_of_open_size", BAD_DATA, *lengths, of="FW-EXE-007", since=Version.V1_2)
    largest = {**open_size, "length": (1 << 32) - 1}
    table.row("largest_length", ResultCode.NO_ERROR, largest, of="FW-EXE-007", since=Version.V1_2, scene=_only_set)
    ready = {"execution": Object(RuntimeApp.ready_execution, RuntimeApp.computes)}
    table.row("already_set", BAD_STATE, ready, of="FW-EXE-004")
    return table


def _only_set(app: RuntimeApp) -> Scene:
    """An output that is set and never computed: nobody has so many bytes."""
    return Scene(set_output()(app).arguments)


def _from_memory(role: str) -> Misuses:
    """Rows of setInputFromMemory and setOutputFromMemory; the memory has 64 bytes."""
    table = misuses_of_executions(f"execution_set_{role}_from_memory")
    table.null("execution", "memory")
    table.row("index", BAD_DATA, *_INDEXES, of="FW-EXE-004")
    table.row("length_of_memory", BAD_DATA, {"length": 64}, {"length": 7}, of="FW-EXE-007")
    table.row("offset_behind_end", BAD_DATA, {"offset": 65}, {"offset": 1 << 31}, of="FW-EXE-007")
    table.row("end_behind_end", BAD_DATA, {"offset": 57}, {"offset": 64}, of="FW-EXE-007")
    table.row("no_offset_no_length", BAD_DATA, {"length": 0}, of="FW-EXE-007")
    scene = _described_input if role == "input" else _described_output
    parts = ({"offset": 1}, {"length": 4}, {"length": VECTOR_BYTES})
    for name, changes in (
        ("described_memory_in_part", parts),
        ("undeclared_role", ({"memory": Object(partial(_foreign, role=role))},)),
        ("incompatible_memory", ({"type": OperandDescription(_FLOAT, 1, (3,))},)),
    ):
        table.row(name, BAD_DATA, *changes, of="FW-MEM-003", since=Version.V1_3, scene=scene)
    opaque = {"memory": Object(memory_of_pixels)}
    table.row("part_of_pixels", BAD_DATA, opaque, {**opaque, "offset": 8}, of="FW-MEM-013", since=Version.V1_2)
    _types(table)
    return table


def _described_input(app: RuntimeApp) -> Scene:
    """The first input in memory from a descriptor. The model knows no dimensions, the descriptor does."""
    compilation = app.finished_compilation(app.finished_model(UNKNOWN_DIMENSION))
    execution, memory = app.execution(compilation), _sized_memory(app, compilation, "input")
    source, _ = app.shared_memory(VECTOR_BYTES, ADDENDS[0])
    app.succeed("memory_copy", source, memory)

    def rest(answer: object) -> None:
        _set_second(app, execution)
        app.succeed("execution_set_output", execution, 0, _VECTOR, app.output_of(execution), VECTOR_BYTES)
        app.computes(execution)

    return Scene({"execution": execution, "index": 0, "type": _VECTOR, "memory": memory, **_WHOLE}, rest)


def _described_output(app: RuntimeApp) -> Scene:
    """The output in memory from a descriptor."""
    compilation = app.finished_compilation(app.finished_model(UNKNOWN_DIMENSION))
    execution, memory = app.execution(compilation), _sized_memory(app, compilation, "output")

    def rest(answer: object) -> None:
        first = place(app.memory, ADDENDS[0])
        app.succeed("execution_set_input", execution, 0, _VECTOR, first, VECTOR_BYTES)
        _set_second(app, execution)
        app.expect("compute", app.compute(execution))

    return Scene({"execution": execution, "index": 0, "type": _VECTOR, "memory": memory, **_WHOLE}, rest)


_VECTOR = OperandDescription(_FLOAT, 1, (2,))
_WHOLE = {"offset": 0, "length": 0}


def _set_second(app: RuntimeApp, execution: int) -> None:
    second = place(app.memory, ADDENDS[1])
    app.succeed("execution_set_input", execution, 1, _VECTOR, second, VECTOR_BYTES)


def _sized_memory(app: RuntimeApp, compilation: int, role: str) -> int:
    """Memory for a role of a compilation that does not know the dimensions."""
    descriptor = app.descriptor(compilation, role)
    app.succeed("memory_desc_set_dimensions", descriptor, 1, (2,))
    app.succeed("memory_desc_finish", descriptor)
    return app.memory_of(descriptor)


def _foreign(app: RuntimeApp, role: str) -> int:
    """Memory for the same role of another compilation."""
    return app.described_memory(role=role)


def _set_input_from_memory() -> Misuses:
    table = _from_memory("input")
    table.row("already_set", BAD_STATE, {"execution": Object(_with_inputs, _goes_on_with_output)}, of="FW-EXE-004")
    return table


def _set_output_from_memory() -> Misuses:
    table = _from_memory("output")
    open_size = {"execution": Object(unknown_execution), "type": None, "length": 0}
    table.row("no_offset_no_length_of_open_size", BAD_DATA, open_size, of="FW-EXE-007", since=Version.V1_2)
    ready = {"execution": Object(RuntimeApp.ready_execution, RuntimeApp.computes)}
    table.row("already_set", BAD_STATE, ready, of="FW-EXE-004")
    return table


def cases() -> Iterator[Case]:
    """All cases."""
    for table in (_set_input(), _set_output(), _set_input_from_memory(), _set_output_from_memory()):
        yield from table
