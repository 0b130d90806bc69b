"""Rank and dimensions of outputs: after a success, where the room does not suffice, and never otherwise."""

from __future__ import annotations

import struct

from npu_conformance.cts.lib.runtime.fixture import ACTIVATION, VECTOR, RuntimeApp
from npu_conformance.cts.lib.runtime.results import output_shape
from npu_conformance.cts.lib.runtime.sums import (
    FIRST,
    SECOND,
    TOTAL,
    compilation_of_reshape,
    compilation_of_sum,
    execution_of_sum,
    failing_compilation,
    failing_execution,
    packed,
    unpacked,
)
from npu_conformance.cts.lib.runtime.ways import compute, start_with_dependencies, started, ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.nnapi.app import UNKNOWN_DIMENSION, UNKNOWN_RANK
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, Pointer
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.executions.shapes", interface="runtime")

_OPEN = {"size": UNKNOWN_DIMENSION, "rank": UNKNOWN_RANK}
_ROOM = 64


def _execution(app: RuntimeApp, compilation: int, room: int) -> tuple[int, Pointer]:
    """An execution of the sum whose output has `room` bytes, and where the output goes."""
    execution = app.execution(compilation)
    for index, addend in enumerate((FIRST, SECOND)):
        app.succeed("execution_set_input", execution, index, None, place(app.memory, packed(addend)), 8)
    output = place(app.memory, b"\xa5" * _ROOM)
    app.succeed("execution_set_output", execution, 0, None, output, room)
    return execution, output


@cases.case("known", "FW-EXE-017", "FW-GEN-003", since=Version.V1_2)
def known(context: CaseContext) -> None:
    """After a success the shape of an output is the model's."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for way in ways(app.level):
        with context.configuration(way):
            made = execution_of_sum(app, compilation)
            made.computes(way)
            checks.equal(output_shape(app, made.execution, 0, rank=1), (2,), "dimensions of the sum")


@cases.case("found", "FW-GEN-004", "FW-EXE-017", since=Version.V1_2)
def found(context: CaseContext) -> None:
    """What the model leaves open is found, also where there is more room than needed."""
    app = RuntimeApp(context)
    for name, description in _OPEN.items():
        compilation = compilation_of_sum(app, output=description)
        for way in ways(app.level, finding_shapes=True):
            for room in (8, 40):
                with context.configuration(f"{name}.{way}.room{room}"):
                    execution, output = _execution(app, compilation, room)
                    app.expect(way, compute(app, way, execution, compilation))
                    checks.equal(output_shape(app, execution, 0, rank=1), (2,), "dimensions of the sum")
                    content = app.memory.read(output, _ROOM)
                    checks.equal(unpacked(content[:8]), TOTAL, "the sum")
                    checks.equal(set(content[room:]), {FILL}, "bytes behind the room of the sum")


@cases.case("found_again", "FW-EXE-017", "FW-EXE-003", "FW-GEN-004", since=Version.FL5)
def found_again(context: CaseContext) -> None:
    """Each computation of a reusable execution has the shape that its own inputs lead to, larger or smaller."""
    app = RuntimeApp(context)
    compilation = compilation_of_reshape(app, rank=2, output=UNKNOWN_RANK)
    for way in ways(app.level, finding_shapes=True):
        with context.configuration(way):
            execution, shape = app.execution(compilation), place(app.memory, bytes(8))
            app.succeed("execution_set_reusable", execution, True)
            app.succeed("execution_set_input", execution, 0, None, place(app.memory, packed((1, 2, 3, 4))), 16)
            app.succeed("execution_set_input", execution, 1, None, shape, 8)
            app.succeed("execution_set_output", execution, 0, None, place(app.memory, bytes(16)), 16)
            for dimensions in ((2, 2), (4, 1), (1, 4)):
                app.memory.write(shape, struct.pack("<2i", *dimensions))
                app.expect(way, compute(app, way, execution, compilation))
                checks.equal(output_shape(app, execution, 0, rank=2), dimensions, "dimensions of the output")


@cases.case("unknown_at_old_levels", "FW-EXE-006", until=Version.V1_1)
def unknown_at_old_levels(context: CaseContext) -> None:
    """Before feature level 3, which brought outputs of unknown size, they are refused where they are set."""
    app = RuntimeApp(context)
    execution = app.execution(compilation_of_sum(app, output=UNKNOWN_DIMENSION))
    code = app.call("execution_set_output", execution, 0, None, place(app.memory, bytes(8)), 8)
    if code == ResultCode.NO_ERROR:
        context.warn_quality("an output of unknown size is taken, which feature level 3 brought")


@cases.case("insufficient", "FW-EXE-018", "FW-EXE-017", "FW-PRT-012", since=Version.V1_2)
def insufficient(context: CaseContext) -> None:
    """An output without enough room ends in OUTPUT_INSUFFICIENT_SIZE; its shape is told, unknown sizes as zero."""
    app = RuntimeApp(context)
    for name, description in _OPEN.items():
        compilation = compilation_of_sum(app, output=description)
        for way in ways(app.level, finding_shapes=True):
            with context.configuration(f"{name}.{way}"):
                execution, output = _execution(app, compilation, 4)
                app.expect(way, compute(app, way, execution, compilation), ResultCode.OUTPUT_INSUFFICIENT_SIZE)
                _tells_required_shape(app, execution)
                checks.equal(set(app.memory.read(output, _ROOM)[4:]), {FILL}, "bytes behind the room of the output")
                again, _ = _execution(app, compilation, 8)
                app.expect(f"{way} with enough room", compute(app, way, again, compilation))


def _tells_required_shape(app: RuntimeApp, execution: int) -> None:
    code = ResultCode.OUTPUT_INSUFFICIENT_SIZE
    rank = app.refused("execution_get_output_operand_rank", code, execution, 0, True).value
    checks.member(rank, (0, 1), "rank of the output without enough room")
    if rank:
        dimensions = app.refused("execution_get_output_operand_dimensions", code, execution, 0, True).values
        checks.member(dimensions, ((0,), (2,)), "dimensions of the output without enough room")


@cases.case("insufficient_and_sufficient", "FW-EXE-018", since=Version.V1_2)
def insufficient_and_sufficient(context: CaseContext) -> None:
    """Of two outputs of which one has too little room, the shape of the other is told with NO_ERROR."""
    app = RuntimeApp(context)
    compilation = _two_sums(app)
    for way in ways(app.level, finding_shapes=True):
        for short in range(2):
            with context.configuration(f"{way}.output{short}"):
                execution = app.execution(compilation)
                for index, addend in enumerate((FIRST, SECOND)):
                    app.succeed("execution_set_input", execution, index, None, place(app.memory, packed(addend)), 8)
                for index in range(2):
                    room = 4 if index == short else 8
                    app.succeed("execution_set_output", execution, index, None, place(app.memory, bytes(8)), room)
                code = compute(app, way, execution, compilation)
                app.expect(way, code, ResultCode.OUTPUT_INSUFFICIENT_SIZE)
                wanted = ResultCode.OUTPUT_INSUFFICIENT_SIZE
                app.refused("execution_get_output_operand_rank", wanted, execution, short, True)
                checks.member(_dimensions(app, execution, 1 - short), ((0,), (2,)), "dimensions of the other output")


def _dimensions(app: RuntimeApp, execution: int, index: int) -> tuple[int, ...]:
    return tuple(app.succeed("execution_get_output_operand_dimensions", execution, index, True).values)


def _two_sums(app: RuntimeApp) -> int:
    """A compilation with the outputs a + b and b + a, both of unknown size."""
    model = app.operands_of_add(VECTOR, UNKNOWN_DIMENSION)
    app.succeed("model_add_operand", model, UNKNOWN_DIMENSION)
    app.succeed("model_add_operation", model, 0, (0, 1, 2), (3,))
    app.succeed("model_add_operation", model, 0, (1, 0, 2), (4,))
    app.succeed("model_identify_inputs_and_outputs", model, (0, 1), (3, 4))
    app.succeed("model_finish", model)
    return app.finished_compilation(model)


@cases.case("too_early", "FW-EXE-017", since=Version.V1_2)
def too_early(context: CaseContext) -> None:
    """Before an execution is computed it tells no shapes."""
    app = RuntimeApp(context)
    made = execution_of_sum(app, compilation_of_sum(app))
    _tells_no_shape(app, made.execution)
    made.computes()


@cases.case("after_failure", "FW-EXE-017", since=Version.V1_2)
def after_failure(context: CaseContext) -> None:
    """An execution that failed in another way than by a lack of room tells no shapes."""
    app = RuntimeApp(context)
    compilation = failing_compilation(app)
    for way in ways(app.level):
        with context.configuration(way):
            execution = failing_execution(app, compilation)
            checks.that(compute(app, way, execution, compilation) != ResultCode.NO_ERROR, f"{way}: expected a failure")
            _tells_no_shape(app, execution)


def _tells_no_shape(app: RuntimeApp, execution: int) -> None:
    app.refused("execution_get_output_operand_rank", ResultCode.BAD_STATE, execution, 0, True)
    app.refused("execution_get_output_operand_dimensions", ResultCode.BAD_STATE, execution, 0, True)


@cases.case("specified_by_type", "FW-EXE-022", "FW-EXE-012", "FW-EXE-005", since=Version.V1_3)
def specified_by_type(context: CaseContext) -> None:
    """An output of open shape is refused with dependencies; where its type says the shape, Android R refuses too."""
    app = RuntimeApp(context)
    for name, description in _OPEN.items():
        with context.configuration(name):
            compilation = compilation_of_sum(app, output=description)
            execution, _ = _execution(app, compilation, 8)
            answer = start_with_dependencies(app, execution)
            started(app, "execution_start_compute_with_dependencies", answer)
            app.expect("an open output", answer.result, ResultCode.BAD_DATA)
            execution = app.execution(compilation)
            app.set_inputs(execution)
            output = place(app.memory, bytes(8))
            app.succeed("execution_set_output", execution, 0, VECTOR, output, 8)
            code = compute(app, "fenced", execution, compilation)
            app.expect("an output with a type", code, ResultCode.NO_ERROR, ResultCode.BAD_DATA)
            if code == ResultCode.NO_ERROR:
                checks.equal(unpacked(app.memory.read(output, 8)), (11, 22), "the sum")


@cases.case("one_of_several_open", "FW-EXE-022", "FW-EXE-012", since=Version.V1_3)
def one_of_several_open(context: CaseContext) -> None:
    """With dependencies each output has to be of known shape, whichever it is."""
    app = RuntimeApp(context)
    for index in range(3):
        with context.configuration(f"output_{index}"):
            execution = _with_open_output(app, index)
            answer = start_with_dependencies(app, execution)
            started(app, "execution_start_compute_with_dependencies", answer)
            app.expect("an open output", answer.result, ResultCode.BAD_DATA)


def _with_open_output(app: RuntimeApp, index: int) -> int:
    """An execution of three sums of which the model leaves the size of one open."""
    model = app.empty_model()
    outputs = [UNKNOWN_DIMENSION if number == index else VECTOR for number in range(3)]
    for described in (VECTOR, VECTOR, ACTIVATION, *outputs):
        app.succeed("model_add_operand", model, described)
    app.succeed("model_set_operand_value", model, 2, place(app.memory, bytes(4)), 4)
    for output in (3, 4, 5):
        app.succeed("model_add_operation", model, OperationType.ADD, (0, 1, 2), (output,))
    app.succeed("model_identify_inputs_and_outputs", model, (0, 1), (3, 4, 5))
    app.succeed("model_finish", model)
    execution = app.execution(app.finished_compilation(model))
    app.set_inputs(execution)
    for number in range(3):
        app.succeed("execution_set_output", execution, number, None, place(app.memory, bytes(8)), 8)
    return execution


@cases.case("zero_sized", "FW-GEN-003", "FW-GEN-004", since=Version.V1_2)
def zero_sized(context: CaseContext) -> None:
    """An output that turns out to have no elements is a success, and its shape says so."""
    app = RuntimeApp(context)
    compilation = _no_boxes(app)
    for way in ways(app.level, finding_shapes=True):
        with context.configuration(way):
            execution = app.execution(compilation)
            scores, boxes, splits = packed((0.1, 0.2)), packed((0, 0, 1, 1, 0, 0, 1, 1)), bytes(4)
            for index, data in enumerate((scores, boxes, splits)):
                app.succeed("execution_set_input", execution, index, None, place(app.memory, data), len(data))
            for index in range(4):
                app.succeed("execution_set_output", execution, index, None, place(app.memory, bytes(4)), 1)
            app.expect(way, compute(app, way, execution, compilation))
            expected = ((0,), (0, 4), (0,), (0,))
            for index, shape in enumerate(expected):
                checks.equal(output_shape(app, execution, index, rank=len(shape)), shape, f"shape of output {index}")


def _no_boxes(app: RuntimeApp) -> int:
    """BOX_WITH_NMS_LIMIT with a threshold that no score reaches."""
    model = app.empty_model()
    tensor, number, scalar = 3, 4, 0
    for description in (
        OperandDescription(tensor, 2, (1, 2)),
        OperandDescription(tensor, 2, (1, 8)),
        OperandDescription(number, 1, (1,)),
        *(OperandDescription(scalar if index in (0, 3, 4, 5) else 1) for index in range(6)),
        OperandDescription(tensor, 1, (0,)),
        OperandDescription(tensor, 2, (0, 4)),
        OperandDescription(number, 1, (0,)),
        OperandDescription(number, 1, (0,)),
    ):
        app.succeed("model_add_operand", model, description)
    values = [packed((0.9,)), (-1).to_bytes(4, "little", signed=True), bytes(4), packed((0.5,))]
    values += [packed((1.0,)), packed((0.9,))]
    for index, value in enumerate(values):
        app.succeed("model_set_operand_value", model, 3 + index, place(app.memory, value), 4)
    app.succeed("model_add_operation", model, 44, tuple(range(9)), tuple(range(9, 13)))
    app.succeed("model_identify_inputs_and_outputs", model, (0, 1, 2), tuple(range(9, 13)))
    app.succeed("model_finish", model)
    return app.finished_compilation(model)
