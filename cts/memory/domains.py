"""Memory from descriptors: roles, what is written to it and when it may be read, copies between all kinds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace as replace_field

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.fixture import VECTOR, RuntimeApp
from npu_conformance.cts.lib.runtime.memories import Role, described, descriptor
from npu_conformance.cts.lib.runtime.nets import NetBuilder, net_of
from npu_conformance.cts.lib.runtime.sums import (
    FIRST,
    OPEN_SIZE,
    SECOND,
    TOTAL,
    compilation_of_sum,
    devices_to_name,
    failing_compilation,
    failing_execution,
    packed,
    unpacked,
)
from npu_conformance.cts.lib.runtime.ways import compute, ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.memory.domains", interface="runtime")

_BOTH = ("input", "output")


def _memory(app: RuntimeApp, roles: Sequence[Role], dimensions: tuple[int, ...] = ()) -> int:
    """Memory from a descriptor. NotApplicable where the runtime declines."""
    made = described(app, roles, dimensions)
    if made is None:
        raise NotApplicable("the runtime gives no memory from this descriptor")
    return made


def _for_sum(app: RuntimeApp, compilation: int, roles: Sequence[str] = _BOTH) -> int:
    """Memory that can be the first input of the sum, and its output."""
    return _memory(app, [Role(role, compilation, 0) for role in roles])


def _fill(app: RuntimeApp, memory: int, values: Sequence[float] = FIRST) -> None:
    source, _ = app.shared_memory(4 * len(values), packed(values))
    app.succeed("memory_copy", source, memory)


def _content(app: RuntimeApp, memory: int) -> tuple[float, ...]:
    target, pool = app.shared_memory(8)
    app.succeed("memory_copy", memory, target)
    return unpacked(pool.read(0, 8))


def _execution(app: RuntimeApp, compilation: int, first: int, output: int) -> int:
    """An execution of the sum whose first input and output are memories from descriptors."""
    execution = app.execution(compilation)
    app.succeed("execution_set_input_from_memory", execution, 0, None, first, 0, 0)
    app.succeed("execution_set_input", execution, 1, None, place(app.memory, packed(SECOND)), 8)
    app.succeed("execution_set_output_from_memory", execution, 0, None, output, 0, 0)
    return execution


def _computing(app: RuntimeApp, execution: int) -> Callable[[], int]:
    return lambda: app.compute(execution)


@cases.case("arguments", "FW-GEN-007", "FW-MEM-009", "FW-MEM-001", since=Version.V1_3)
def arguments(context: CaseContext) -> None:
    """Inputs and outputs in memory from descriptors give the sum in every way."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for way in ways(app.level):
        with context.configuration(way):
            first, output = (_for_sum(app, compilation, (role,)) for role in _BOTH)
            _fill(app, first)
            app.expect(way, compute(app, way, _execution(app, compilation, first, output), compilation))
            checks.equal(_content(app, output), TOTAL, "the sum")
            checks.equal(_content(app, first), FIRST, "the input")


@cases.case("explicit_device", "FW-GEN-007", since=Version.V1_3)
def explicit_device(context: CaseContext) -> None:
    """The same for each device that is named alone; one that has no such memory says OP_FAILED."""
    app = RuntimeApp(context)
    model = app.finished_model()
    for name, device in devices_to_name(app).items():
        with context.configuration(name):
            function = "model_get_supported_operations_for_devices"
            if not all(app.succeed(function, model, (device,), True).values):
                raise NotSupported("the device does not support ADD of TENSOR_FLOAT32")
            compilation = app.finished_compilation(model, (device,))
            memory = _for_sum(app, compilation)
            _fill(app, memory)
            output = _for_sum(app, compilation)
            app.expect("compute", app.compute(_execution(app, compilation, memory, output)))
            checks.equal(_content(app, output), TOTAL, "the sum")


@cases.case("chain", "FW-GEN-007", since=Version.V1_3)
def chain(context: CaseContext) -> None:
    """What one execution writes another reads without a copy, in all ways, and also of another compilation."""
    app = RuntimeApp(context)
    compilations = [compilation_of_sum(app) for _ in range(2)]
    roles = [Role(role, compilation, 0) for role in _BOTH for compilation in compilations]
    left, right = (_memory(app, roles) for _ in range(2))
    _fill(app, left, (0.0, 0.0))
    rounds = list(enumerate(ways(app.level) * 2))
    for number, way in rounds:
        compilation = compilations[number % 2]
        source, target = (left, right) if number % 2 == 0 else (right, left)
        app.expect(way, compute(app, way, _execution(app, compilation, source, target), compilation))
    expected = (len(rounds) * SECOND[0], len(rounds) * SECOND[1])
    checks.equal(_content(app, left), expected, "the last sum")


@cases.case("several_readers", "FW-MEM-012", since=Version.V1_3)
def several_readers(context: CaseContext) -> None:
    """Executions that read one memory at once all get its values."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    memory = _for_sum(app, compilation)
    _fill(app, memory)
    outputs = [place(app.memory, bytes(8)) for _ in range(4)]
    executions = []
    for output in outputs:
        execution = app.execution(compilation)
        app.succeed("execution_set_input_from_memory", execution, 0, None, memory, 0, 0)
        app.succeed("execution_set_input", execution, 1, None, place(app.memory, packed(SECOND)), 8)
        app.succeed("execution_set_output", execution, 0, None, output, 8)
        executions.append(execution)
    results = context.run_concurrently([_computing(app, each) for each in executions])
    checks.equal(results, [ResultCode.NO_ERROR] * 4, "results of four executions")
    for output in outputs:
        checks.equal(unpacked(app.memory.read(output, 8)), TOTAL, "the sum")


@cases.case("conflicting_writers", "FW-MEM-012", since=Version.V1_3)
def conflicting_writers(context: CaseContext) -> None:
    """Executions that write one memory at once end, in whatever result; afterwards it is usable."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    source, target = (_for_sum(app, compilation) for _ in range(2))
    _fill(app, source)
    executions = [_execution(app, compilation, source, target) for _ in range(4)]
    for result in context.run_concurrently([_computing(app, each) for each in executions]):
        if isinstance(result, InterfaceError):
            raise result
    app.expect("compute", app.compute(_execution(app, compilation, source, target)))
    checks.equal(_content(app, target), TOTAL, "the sum")


@cases.case("uninitialised_input", "FW-MEM-004", since=Version.V1_3)
def uninitialised_input(context: CaseContext) -> None:
    """An execution that reads memory to which nothing was written fails with OP_FAILED in every way."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for way in ways(app.level):
        with context.configuration(way):
            first, output = _for_sum(app, compilation), _for_sum(app, compilation)
            code = compute(app, way, _execution(app, compilation, first, output), compilation)
            app.expect(f"{way} of uninitialised memory", code, ResultCode.OP_FAILED)
            _fill(app, first)
            app.expect(way, compute(app, way, _execution(app, compilation, first, output), compilation))
            checks.equal(_content(app, output), TOTAL, "the sum")


@cases.case("uninitialised_source", "FW-MEM-006", since=Version.V1_3)
def uninitialised_source(context: CaseContext) -> None:
    """Memory to which nothing was written cannot be copied, neither to shared memory nor to its like."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    memory, other = _for_sum(app, compilation), _for_sum(app, compilation)
    target, _ = app.shared_memory(8)
    for destination in (target, other):
        app.refused("memory_copy", ResultCode.BAD_DATA, memory, destination)


@cases.case("failed_execution", "FW-MEM-005", since=Version.V1_3)
def failed_execution(context: CaseContext) -> None:
    """An execution that fails leaves its output uninitialised, even where something was in it before."""
    app = RuntimeApp(context)
    compilation = failing_compilation(app)
    for way in ways(app.level):
        with context.configuration(way):
            memory = _memory(app, [Role("output", compilation, 0)])
            _fill(app, memory, (1.0, 2.0, 3.0, 4.0))
            execution = failing_execution(app, compilation, sets_output=False)
            app.succeed("execution_set_output_from_memory", execution, 0, None, memory, 0, 0)
            code = compute(app, way, execution, compilation)
            checks.that(code != ResultCode.NO_ERROR, f"{way} of what cannot be computed: expected a failure")
            target, _ = app.shared_memory(16)
            app.refused("memory_copy", ResultCode.BAD_DATA, memory, target)


@cases.case("too_little_room_elsewhere", "FW-MEM-005", since=Version.V1_3)
def too_little_room_elsewhere(context: CaseContext) -> None:
    """Too little room for one output is a failure for the other, which lies in memory that was written before."""
    app = RuntimeApp(context)
    builder = NetBuilder()
    first, second = builder.input(), builder.input()
    net = builder.net(builder.binary("ADD", first, second), builder.binary("MUL", first, second))
    vector = net.vector
    opened = replace_field(vector.operands[vector.outputs[1]], dimensions=(0, 2))
    net = net_of(replace_field(vector, operands={**vector.operands, vector.outputs[1]: opened}))
    compilation = app.finished_compilation(app.built(net.wire))
    memory = _memory(app, [Role("output", compilation, 0)])
    for room, expected in ((16, ResultCode.NO_ERROR), (4, ResultCode.OUTPUT_INSUFFICIENT_SIZE)):
        execution = app.execution(compilation)
        for index, name in enumerate(net.vector.inputs):
            data = place(app.memory, net.inputs[name].tobytes())
            app.succeed("execution_set_input", execution, index, None, data, 16)
        app.succeed("execution_set_output_from_memory", execution, 0, None, memory, 0, 0)
        app.succeed("execution_set_output", execution, 1, None, place(app.memory, bytes(room)), room)
        app.expect("execution_compute", app.compute(execution), expected)
    app.refused("memory_copy", ResultCode.BAD_DATA, memory, app.shared_memory(16)[0])


@cases.case("failed_copy", "FW-MEM-005", "FW-MEM-006", since=Version.V1_3)
def failed_copy(context: CaseContext) -> None:
    """A copy from memory of another size, or to it, is refused; its target is uninitialised, its source is not."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for size in (4, 12):
        with context.configuration(f"size{size}"):
            memory, (other, _) = _for_sum(app, compilation), app.shared_memory(size)
            _fill(app, memory)
            app.refused("memory_copy", ResultCode.BAD_DATA, memory, other)
            checks.equal(_content(app, memory), FIRST, "the source of a copy that failed")
            app.refused("memory_copy", ResultCode.BAD_DATA, other, memory)
            target, _ = app.shared_memory(8)
            app.refused("memory_copy", ResultCode.BAD_DATA, memory, target)
            _fill(app, memory)
            checks.equal(_content(app, memory), FIRST, "the memory that was filled again")


@cases.case("copies", "FW-MEM-006", since=Version.V1_3)
def copies(context: CaseContext) -> None:
    """Bytes are copied between all kinds of memory, also onto themselves."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for source_kind, target_kind in itertools.product(("shared", "described"), repeat=2):
        with context.configuration(f"{source_kind}_to_{target_kind}"):
            source, target = (
                app.shared_memory(8)[0] if kind == "shared" else _for_sum(app, compilation)
                for kind in (source_kind, target_kind)
            )
            _fill(app, source, (6.0, 7.0))
            app.succeed("memory_copy", source, target)
            checks.equal(_content(app, target), (6.0, 7.0), "the copy")
            app.succeed("memory_copy", source, source)
            checks.equal(_content(app, source), (6.0, 7.0), "the source")


@cases.case("sizes_of_shared_memory", "FW-MEM-006", since=Version.V1_3)
def sizes_of_shared_memory(context: CaseContext) -> None:
    """Shared memories are copied whole, and only where their sizes are equal."""
    app = RuntimeApp(context)
    source, target = app.shared_memory(100, bytes(range(100)))[0], app.shared_memory(100)
    app.succeed("memory_copy", source, target[0])
    checks.equal(target[1].read(0, 100), bytes(range(100)), "the copy")
    for size in (99, 101):
        app.refused("memory_copy", ResultCode.BAD_DATA, source, app.shared_memory(size)[0])


@cases.case("wrong_use", "FW-MEM-003", since=Version.V1_3)
def wrong_use(context: CaseContext) -> None:
    """Memory from a descriptor is used in its roles, as a whole, and as no constant."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    other = compilation_of_sum(app)
    memory = _for_sum(app, compilation, ("input",))
    _fill(app, memory)
    execution, foreign = app.execution(compilation), app.execution(other)
    bad, as_input = ResultCode.BAD_DATA, "execution_set_input_from_memory"
    for offset, length in ((0, 8), (4, 0), (4, 4), (0, 4)):
        app.refused(as_input, bad, execution, 0, None, memory, offset, length)
    app.refused(as_input, bad, execution, 1, None, memory, 0, 0)
    app.refused("execution_set_output_from_memory", bad, execution, 0, None, memory, 0, 0)
    app.refused(as_input, bad, foreign, 0, None, memory, 0, 0)
    app.refused("model_set_operand_value_from_memory", bad, app.operands_of_add(), 0, memory, 0, 8)
    app.succeed(as_input, execution, 0, None, memory, 0, 0)


@cases.case("shape_last_written", "FW-MEM-007", since=Version.V1_3)
def shape_last_written(context: CaseContext) -> None:
    """As an input, memory has the shape that was written last; another one fails."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app, OPEN_SIZE, OPEN_SIZE)
    memory = _memory(app, [Role("input", compilation, 0)], (2,))
    _fill(app, memory)
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


@cases.case("unknown_shape", "FW-MEM-008", since=Version.V1_3)
def unknown_shape(context: CaseContext) -> None:
    """Memory of unknown shape is declined with OP_FAILED, or works."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app, output=OPEN_SIZE)
    made = described(app, [Role("output", compilation, 0)])
    if made is None:
        return
    execution = app.execution(compilation)
    app.set_inputs(execution)
    app.succeed("execution_set_output_from_memory", execution, 0, None, made, 0, 0)
    app.expect("compute", app.compute(execution))
    checks.equal(_content(app, made), (11.0, 22.0), "the sum")


@cases.case("merged_dimensions", "FW-MEM-002", "FW-MEM-007", since=Version.V1_3)
def merged_dimensions(context: CaseContext) -> None:
    """What one role leaves open another says; memory of that shape serves both."""
    app = RuntimeApp(context)
    open_one, known = compilation_of_sum(app, OPEN_SIZE, OPEN_SIZE), compilation_of_sum(app)
    memory = _memory(app, [Role("input", open_one, 0), Role("output", known, 0), Role("input", known, 0)])
    _fill(app, memory)
    output = _for_sum(app, known)
    app.expect("compute", app.compute(_execution(app, known, memory, output)))
    checks.equal(_content(app, output), TOTAL, "the sum")
    with_other = descriptor(app, [Role("input", open_one, 0), Role("output", known, 0)], (2,))
    checks.that(with_other > 0, "a descriptor with the same dimensions said twice")


@cases.case("refused_role_says_nothing", "FW-MEM-002", since=Version.V1_3)
def refused_role_says_nothing(context: CaseContext) -> None:
    """A role that is refused leaves the descriptor as it was: its operand's dimensions do not count."""
    app = RuntimeApp(context)
    open_one, known = compilation_of_sum(app, OPEN_SIZE, OPEN_SIZE), compilation_of_sum(app)
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
    open_one = app.finished_compilation(app.finished_model(OPEN_SIZE, OPEN_SIZE), (app.cpu(),))
    known_role, open_role = Role("input", known, 0), Role("input", open_one, 0)
    _memory(app, [known_role])
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
            app.made("memory_create_from_desc", made, True)


@cases.case("outlives_descriptor", "FW-MEM-001", since=Version.V1_3)
def outlives_descriptor(context: CaseContext) -> None:
    """One descriptor gives several memories, and may be freed before they are used."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    made = descriptor(app, [Role("input", compilation, 0), Role("output", compilation, 0)])
    first, second = (app.memory_of(made) for _ in range(2))
    app.free(made)
    _fill(app, first)
    app.expect("compute", app.compute(_execution(app, compilation, first, second)))
    checks.equal(_content(app, second), TOTAL, "the sum")


@cases.case("reused_after_free", "FW-MEM-004", since=Version.V1_3)
def reused_after_free(context: CaseContext) -> None:
    """Memory that is made after another was freed begins uninitialised."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    memory = _for_sum(app, compilation)
    _fill(app, memory)
    app.free(memory)
    again = _for_sum(app, compilation)
    output = _for_sum(app, compilation)
    app.expect("compute", app.compute(_execution(app, compilation, again, output)), ResultCode.OP_FAILED)
