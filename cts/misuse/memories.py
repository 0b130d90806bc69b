"""Memory objects, descriptors of memory, and copies."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.fixture import ADDENDS, VECTOR, VECTOR_BYTES, RuntimeApp
from npu_conformance.cts.lib.runtime.legal import Scene, memories
from npu_conformance.cts.lib.runtime.legal.models import FILTER
from npu_conformance.cts.lib.runtime.misuse import BAD_DATA, BAD_STATE, UNEXPECTED_NULL, Misuses, Object
from npu_conformance.cts.lib.runtime.objects import (
    BUILDING_COMPILATION,
    BUILDING_DESCRIPTOR,
    FAILED_COMPILATION,
    FINISHED_DESCRIPTOR,
)
from npu_conformance.harness.nnapi.app import UNKNOWN_DIMENSION
from npu_conformance.harness.run.cases import Case, CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, PerChannelDescription
from npu_conformance.specs.versions import Version

_own = CaseGroup("cts.misuse", interface="runtime", group=Group.RUNTIME_MEMORIES)


def _table(function: str, *requirements: str, since: Version = Version.V1_0) -> Misuses:
    return Misuses(function, *requirements, group=Group.RUNTIME_MEMORIES, since=since)


def _create_from_fd() -> Misuses:
    table = _table("memory_create_from_fd", "FW-MEM-010")
    table.null("memory", since=Version.FL5)
    table.row("size_0_or_no_descriptor", BAD_DATA, {"size": 0}, {"fd": None}, {"size": 0, "fd": None})
    return table


def _create_from_hardware_buffer() -> Misuses:
    table = _table("memory_create_from_a_hardware_buffer", "FW-MEM-013", since=Version.FL5)
    table.null("ahwb", "memory")
    return table


def _compilation(operand: OperandDescription) -> Object:
    """A compilation of an ADD of other operands."""
    return Object(lambda app: app.finished_compilation(app.finished_model(operand)))


_OTHERS = (
    OperandDescription(OperandType.TENSOR_FLOAT16, 1, (2,)),
    OperandDescription(OperandType.TENSOR_QUANT8_ASYMM, 1, (2,), 0.5, 128),
)
_LONGER = OperandDescription(OperandType.TENSOR_FLOAT32, 1, (3,))


def _quantised(scale: float, zero_point: int, app: RuntimeApp) -> int:
    """A compilation of a quantised ADD."""
    operand = OperandDescription(OperandType.TENSOR_QUANT8_ASYMM, 1, (2,), scale, zero_point)
    return app.finished_compilation(app.finished_model(operand, operand))


def _with_role(role: str, app: RuntimeApp) -> Scene:
    """A second role, for a descriptor that has the first input of another compilation of the ADD."""
    descriptor = app.descriptor()
    second = {"compilation": app.finished_compilation(), "index": 0, "frequency": 1.0}
    return Scene({"desc": descriptor, **second}, lambda answer: memories.finish(app, descriptor))


def _quantised_role(role: str, app: RuntimeApp) -> Scene:
    """A second role of a quantised descriptor."""
    descriptor = app.made("memory_desc_create", True)
    compilation = _quantised(0.5, 128, app)
    app.succeed("memory_desc_add_input_role", descriptor, compilation, 1, 1.0)
    second = {"compilation": compilation, "index": 0, "frequency": 0.5}
    return Scene({"desc": descriptor, **second}, lambda answer: app.succeed("memory_desc_finish", descriptor))


def _per_channel(scales: tuple[float, float], app: RuntimeApp) -> int:
    """A compilation of a DEQUANTIZE of weights with scales for their channels."""
    model = app.empty_model()
    floats = OperandDescription(OperandType.TENSOR_FLOAT32, FILTER.dimension_count, FILTER.dimensions)
    for described in (FILTER, floats):
        app.succeed("model_add_operand", model, described)
    quant = PerChannelDescription(0, 2, scales)
    app.succeed("model_set_operand_symm_per_channel_quant_params", model, 0, quant)
    app.succeed("model_add_operation", model, OperationType.DEQUANTIZE, (0,), (1,))
    app.succeed("model_identify_inputs_and_outputs", model, (0,), (1,))
    app.succeed("model_finish", model)
    return app.finished_compilation(model)


@_own.case("memory_desc_add_input_role.other_channel_scales", "FW-MEM-002", since=Version.V1_3)
def other_channel_scales(context: CaseContext) -> None:
    """Roles whose operands have other scales for their channels do not go together: BAD_DATA, and no effect."""
    app = RuntimeApp(context)
    descriptor = app.made("memory_desc_create", True)
    app.succeed("memory_desc_add_input_role", descriptor, _per_channel((0.5, 0.25), app), 0, 1.0)
    other, equal = _per_channel((0.25, 0.5), app), _per_channel((0.5, 0.25), app)
    app.refused("memory_desc_add_input_role", BAD_DATA, descriptor, other, 0, 1.0)
    app.succeed("memory_desc_add_input_role", descriptor, equal, 0, 1.0)
    app.succeed("memory_desc_finish", descriptor)


def _declare_not_a_number(role: str) -> None:
    @_own.case(f"memory_desc_add_{role}_role.frequency_not_a_number", "FW-MEM-002", since=Version.V1_3)
    def frequency_not_a_number(context: CaseContext) -> None:
        """What is no number lies not between 0 and 1; Android's own runtime takes it."""
        app = RuntimeApp(context)
        descriptor, compilation = app.made("memory_desc_create", True), app.finished_compilation()
        function = f"memory_desc_add_{role}_role"
        result = app.call(function, descriptor, compilation, 0, math.nan)
        app.expect(function, result, BAD_DATA, ResultCode.NO_ERROR)
        if result == ResultCode.NO_ERROR:
            context.warn_quality(f"{function}: a frequency that is not a number was taken, expected BAD_DATA")


_declare_not_a_number("input")
_declare_not_a_number("output")


def _repeated(role: str, app: RuntimeApp) -> Scene:
    """The only role of a descriptor, again."""
    descriptor, compilation = app.made("memory_desc_create", True), app.finished_compilation()
    app.succeed(f"memory_desc_add_{role}_role", descriptor, compilation, 0, 1.0)
    again = {"compilation": compilation, "index": 0, "frequency": 0.5}
    rest = partial(_finishes, app, descriptor)
    return Scene({"desc": descriptor, **again}, rest, is_legal=False)


def _finishes(app: RuntimeApp, descriptor: int, answer: object) -> None:
    memories.finish(app, descriptor)


def _add_role(role: str) -> Misuses:
    table = _table(f"memory_desc_add_{role}_role", "FW-MEM-002")
    with_role = partial(_with_role, role)
    table.null("desc", "compilation")
    unusable = ({"compilation": BUILDING_COMPILATION}, {"compilation": FAILED_COMPILATION})
    table.row("compilation_not_finished", BAD_DATA, *unusable)
    table.row("index", BAD_DATA, {"index": 999}, {"index": 2 if role == "input" else 1}, {"index": 2**32 - 1})
    table.row("frequency", BAD_DATA, *({"frequency": each} for each in (10.0, 0.0, -1.0, 1.0001)))
    table.row("same_role", BAD_DATA, {}, {"frequency": 1.0}, scene=partial(_repeated, role))
    table.row("other_type", BAD_DATA, *({"compilation": _compilation(each)} for each in _OTHERS), scene=with_role)
    quantised = ({"compilation": Object(partial(_quantised, *each))} for each in ((0.25, 128), (0.5, 127)))
    table.row("other_quantisation", BAD_DATA, *quantised, scene=partial(_quantised_role, role))
    table.row("incompatible_dimensions", BAD_DATA, {"compilation": _compilation(_LONGER)}, scene=with_role)
    table.row("finished_descriptor", BAD_STATE, {"desc": FINISHED_DESCRIPTOR}, of="FW-MEM-001")
    return table


def _set_dimensions() -> Misuses:
    table = _table("memory_desc_set_dimensions", "FW-MEM-002")
    table.null("desc")
    table.row("null_dimensions", UNEXPECTED_NULL, {"dimensions": None}, of="FW-API-001")
    nothing = {"rank": 0, "dimensions": None}
    table.row("null_dimensions_of_rank_0", ResultCode.NO_ERROR, nothing, of="FW-API-001")
    incompatible = ({"dimensions": (3,)}, {"rank": 2, "dimensions": (2, 1)})
    table.row("incompatible", BAD_DATA, *incompatible)
    table.row("of_a_scalar", BAD_DATA, {"desc": Object(_of_scalar)})
    table.row("finished_descriptor", BAD_STATE, {"desc": FINISHED_DESCRIPTOR}, of="FW-MEM-001")
    return table


def _of_scalar(app: RuntimeApp) -> int:
    """A descriptor of a scalar: the activation of an ADD as an input of the model."""
    model = app.empty_model()
    vector = OperandDescription(OperandType.TENSOR_FLOAT32, 1, (2,))
    for described in (vector, vector, OperandDescription(OperandType.INT32), vector):
        app.succeed("model_add_operand", model, described)
    app.succeed("model_add_operation", model, 0, (0, 1, 2), (3,))
    app.succeed("model_identify_inputs_and_outputs", model, (2, 0, 1), (3,))
    app.succeed("model_finish", model)
    return app.descriptor(app.finished_compilation(model))


def _desc_finish() -> Misuses:
    table = _table("memory_desc_finish", "FW-MEM-001")
    table.null("desc")
    table.row("no_role", BAD_DATA, {"desc": Object(lambda app: app.made("memory_desc_create", True))})
    table.row("finished_descriptor", BAD_STATE, {"desc": FINISHED_DESCRIPTOR})
    return table


def _unknown_shape(app: RuntimeApp) -> int:
    """A finished descriptor of no known shape, for the CPU alone, which has no memory of its own."""
    compilation = app.finished_compilation(app.finished_model(UNKNOWN_DIMENSION), (app.cpu(),))
    return app.finished_descriptor(compilation)


def _create_from_desc() -> Misuses:
    table = _table("memory_create_from_desc", "FW-MEM-001")
    table.null("desc", "memory")
    table.row("unfinished_descriptor", BAD_STATE, {"desc": BUILDING_DESCRIPTOR})
    unknown = {"desc": Object(_unknown_shape)}
    table.row("unknown_shape", ResultCode.OP_FAILED, unknown, of="FW-MEM-008")
    return table


def _shared(app: RuntimeApp, size: int = 64) -> int:
    memory, _ = app.shared_memory(size, ADDENDS[0])
    return memory


def _described_copy(app: RuntimeApp) -> Scene:
    """From memory of a descriptor that has a value, to shared memory."""
    source, target = app.initialised_memory(), _shared(app, VECTOR_BYTES)
    return Scene({"src": source, "dst": target}, lambda answer: memories.computes_with(app, target))


def _same_object(app: RuntimeApp) -> Scene:
    """From a memory object to itself."""
    memory = _shared(app, VECTOR_BYTES)
    return Scene({"src": memory, "dst": memory}, lambda answer: memories.computes_with(app, memory))


def _longer_memory(app: RuntimeApp) -> int:
    """Memory from a descriptor of three floats."""
    return app.described_memory(app.finished_compilation(app.finished_model(_LONGER)))


def _memory_of_one_row(app: RuntimeApp) -> int:
    """Memory from a descriptor of as many floats, in another shape."""
    assert VECTOR.dimensions is not None
    row = replace(VECTOR, dimension_count=2, dimensions=(1, *VECTOR.dimensions))
    return app.described_memory(app.finished_compilation(app.finished_model(row)))


def _whole_numbers(app: RuntimeApp) -> int:
    """Memory from a descriptor for as many bytes, of another type."""
    operand = replace(VECTOR, type=int(OperandType.TENSOR_INT32))
    return app.described_memory(app.finished_compilation(app.finished_model(operand)))


def _copy() -> Misuses:
    table = _table("memory_copy", "FW-MEM-006")
    table.null("src", "dst")
    table.row("other_size", BAD_DATA, {"src": Object(_shared)}, {"dst": Object(_shared)})
    table.row("uninitialised_source", BAD_DATA, {"src": Object(RuntimeApp.described_memory)}, scene=_described_copy)
    shapes = ({"dst": Object(_longer_memory)}, {"dst": Object(_memory_of_one_row)})
    table.row("incompatible_shapes", BAD_DATA, *shapes, scene=_described_copy)
    table.row("other_type", BAD_DATA, {"dst": Object(_whole_numbers)}, scene=_described_copy)
    table.row("same_object", ResultCode.NO_ERROR, {}, scene=_same_object)
    return table


def cases() -> Iterator[Case]:
    """All cases."""
    yield from _own()
    create = _table("memory_desc_create")
    create.null("desc")
    for table in (
        _create_from_fd(), _create_from_hardware_buffer(), create, _add_role("input"), _add_role("output"),
        _set_dimensions(), _desc_finish(), _create_from_desc(), _copy(),
    ):  # fmt: skip
        yield from table
    execution_create = Misuses("execution_create", "FW-EXE-001", group=Group.RUNTIME_EXECUTIONS)
    execution_create.null("compilation", "execution")
    execution_create.row("compilation_unfinished", BAD_STATE, {"compilation": BUILDING_COMPILATION})
    execution_create.row("compilation_failed", BAD_STATE, {"compilation": FAILED_COMPILATION})
    yield from execution_create
