"""Memory from descriptors: shapes that roles and the app leave open, and the one that was written last."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.described_sums import (
    BOTH,
    content_of,
    execution_between,
    fill,
    memory_for_sum,
    memory_of_roles,
)
from npu_conformance.cts.lib.runtime.fixture import VECTOR, RuntimeApp
from npu_conformance.cts.lib.runtime.memories import Role, described, descriptor
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import driver
from npu_conformance.cts.lib.runtime.sums import (
    TOTAL,
    compilation_of_sum,
    packed,
)
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.app import UNKNOWN_DIMENSION
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, Pointer
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.memory.domains", interface="runtime")

_OK = ResultCode.NO_ERROR
_FAILED = ResultCode.OP_FAILED


@cases.case("shape_last_written", "FW-MEM-007", since=Version.V1_3)
def shape_last_written(context: CaseContext) -> None:
    """As an input, memory has the shape that was written last; another one fails."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app, UNKNOWN_DIMENSION, UNKNOWN_DIMENSION)
    memory = memory_of_roles(app, [Role("input", compilation, 0)], (2,))
    fill(app, memory)
    codes = {}
    for size in (2, 3):
        execution = app.execution(compilation)
        description = replace(VECTOR, dimensions=(size,))
        codes[size] = app.call("execution_set_input_from_memory", execution, 0, description, memory, 0, 0)
        if codes[size] == ResultCode.NO_ERROR:
            second = place(app.memory, packed((1.0,) * size))
            app.succeed("execution_set_input", execution, 1, description, second, 4 * size)
            app.succeed("execution_set_output", execution, 0, None, place(app.memory, bytes(64)), 64)
            codes[size] = app.compute(execution)
    app.expect("an input of the shape that was written", codes[2])
    app.expect("an input of another shape", codes[3], ResultCode.OP_FAILED, ResultCode.BAD_DATA)


@cases.case("shape_of_the_same_size", "FW-MEM-007", since=Version.V1_3)
def shape_of_the_same_size(context: CaseContext) -> None:
    """A shape of as many elements as the one that was written last is another shape, also with the sizes exchanged."""
    app = ScriptedApp(context, driver("one"))
    operand = OperandDescription(OperandType.TENSOR_FLOAT32, 2, (0, 0))
    compilation = compilation_of_sum(app, operand, devices=app.named("one"))
    memory = memory_of_roles(app, [Role(role, compilation, 0) for role in BOTH])
    writing = _sum_of_six(app, compilation, place(app.memory, packed((1.0,) * 6)), (2, 3))
    app.succeed("execution_set_output_from_memory", writing, 0, None, memory, 0, 0)
    app.expect("execution_compute", app.compute(writing))
    for shape, expected in (((2, 3), _OK), ((3, 2), _FAILED), ((6, 1), _FAILED), ((2, 3), _OK)):
        reading = _sum_of_six(app, compilation, memory, shape)
        app.succeed("execution_set_output", reading, 0, None, place(app.memory, bytes(24)), 24)
        app.expect(f"an input of shape {shape}, behind {(2, 3)}", app.compute(reading), expected)


def _sum_of_six(app: RuntimeApp, compilation: int, first: Pointer | int, shape: tuple[int, int]) -> int:
    """An execution without an output. first: where the first addend lies, behind a pointer or in memory."""
    execution = app.execution(compilation)
    described_as = OperandDescription(OperandType.TENSOR_FLOAT32, 2, shape)
    if isinstance(first, Pointer):
        app.succeed("execution_set_input", execution, 0, described_as, first, 24)
    else:
        app.succeed("execution_set_input_from_memory", execution, 0, described_as, first, 0, 0)
    second = place(app.memory, packed((1.0,) * 6))
    app.succeed("execution_set_input", execution, 1, described_as, second, 24)
    return execution


@cases.case("unknown_shape", "FW-MEM-008", since=Version.V1_3)
def unknown_shape(context: CaseContext) -> None:
    """Memory of unknown shape is declined with OP_FAILED, or works."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app, output=UNKNOWN_DIMENSION)
    made = described(app, [Role("output", compilation, 0)])
    if made is None:
        return
    execution = app.execution(compilation)
    app.set_inputs(execution)
    app.succeed("execution_set_output_from_memory", execution, 0, None, made, 0, 0)
    app.expect("compute", app.compute(execution))
    checks.equal(content_of(app, made), (11.0, 22.0), "the sum")


@cases.case("merged_dimensions", "FW-MEM-002", "FW-MEM-007", since=Version.V1_3)
def merged_dimensions(context: CaseContext) -> None:
    """What one role leaves open another says; memory of that shape serves both."""
    app = RuntimeApp(context)
    open_one, known = compilation_of_sum(app, UNKNOWN_DIMENSION, UNKNOWN_DIMENSION), compilation_of_sum(app)
    memory = memory_of_roles(app, [Role("input", open_one, 0), Role("output", known, 0), Role("input", known, 0)])
    fill(app, memory)
    output = memory_for_sum(app, known)
    app.expect("compute", app.compute(execution_between(app, known, memory, output)))
    checks.equal(content_of(app, output), TOTAL, "the sum")
    with_other = descriptor(app, [Role("input", open_one, 0), Role("output", known, 0)], (2,))
    checks.that(with_other > 0, "a descriptor with the same dimensions said twice")


@cases.case("refused_role_says_nothing", "FW-MEM-002", since=Version.V1_3)
def refused_role_says_nothing(context: CaseContext) -> None:
    """A role that is refused leaves the descriptor as it was: its operand's dimensions do not count."""
    app = RuntimeApp(context)
    open_one, known = compilation_of_sum(app, UNKNOWN_DIMENSION, UNKNOWN_DIMENSION), compilation_of_sum(app)
    for earlier in (True, False):
        made = app.made("memory_desc_create", True)
        if earlier:
            app.succeed("memory_desc_add_input_role", made, open_one, 0, 1.0)
        for frequency in (0.0, 1.5):
            app.refused("memory_desc_add_output_role", ResultCode.BAD_DATA, made, known, 0, frequency)
        app.succeed("memory_desc_add_output_role", made, open_one, 0, 1.0)
        app.succeed("memory_desc_set_dimensions", made, 1, (3,))
        app.succeed("memory_desc_finish", made)


@cases.case("shape_made_known", "FW-MEM-008", "FW-MEM-002", since=Version.V1_3)
def shape_made_known(context: CaseContext) -> None:
    """A runtime that gives memory of a known shape gives it where a role or a call makes it known."""
    app = RuntimeApp(context)
    known = app.finished_compilation(app.finished_model(), (app.cpu(),))
    open_one = app.finished_compilation(app.finished_model(UNKNOWN_DIMENSION, UNKNOWN_DIMENSION), (app.cpu(),))
    known_role, open_role = Role("input", known, 0), Role("input", open_one, 0)
    app.free(memory_of_roles(app, [known_role]))
    dimensions_first = app.made("memory_desc_create", True)
    app.succeed("memory_desc_set_dimensions", dimensions_first, 1, (2,))
    app.succeed("memory_desc_add_input_role", dimensions_first, open_one, 0, 1.0)
    app.succeed("memory_desc_finish", dimensions_first)
    for way, made in (
        ("dimensions_before_role", dimensions_first),
        ("dimensions_behind_role", descriptor(app, [open_role], (2,))),
        ("an_earlier_role", descriptor(app, [known_role, open_role])),
        ("a_later_role", descriptor(app, [open_role, known_role])),
    ):
        with context.configuration(way):
            app.free(app.made("memory_create_from_desc", made, True))  # there may be room for one alone
