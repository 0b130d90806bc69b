"""Memory from descriptors in executions: its roles, who may read and write it, and when it holds a value."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.described_sums import (
    BOTH,
    content_of,
    execution_between,
    fill,
    memory_for_sum,
    memory_of_roles,
)
from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.memories import Role, descriptor
from npu_conformance.cts.lib.runtime.nets import NetBuilder, net_of
from npu_conformance.cts.lib.runtime.sums import (
    FIRST,
    SECOND,
    TOTAL,
    compilation_of_sum,
    devices_to_name,
    failing_compilation,
    failing_execution,
    need_sum,
    packed,
    unpacked,
)
from npu_conformance.cts.lib.runtime.ways import compute, ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.memory.domains", interface="runtime")


@cases.case("arguments", "FW-GEN-007", "FW-MEM-009", "FW-MEM-001", since=Version.V1_3)
def arguments(context: CaseContext) -> None:
    """Inputs and outputs in memory from descriptors give the sum in every way."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for way in ways(app.level):
        with context.configuration(way):
            first, output = (memory_for_sum(app, compilation, (role,)) for role in BOTH)
            fill(app, first)
            app.expect(way, compute(app, way, execution_between(app, compilation, first, output), compilation))
            checks.equal(content_of(app, output), TOTAL, "the sum")
            checks.equal(content_of(app, first), FIRST, "the input")


@cases.case("explicit_device", "FW-GEN-007", since=Version.V1_3)
def explicit_device(context: CaseContext) -> None:
    """The same for each device that is named alone; one that has no such memory says OP_FAILED."""
    app = RuntimeApp(context)
    model = app.finished_model()
    for name, device in devices_to_name(app).items():
        with context.configuration(name):
            need_sum(app, model, device)
            compilation = app.finished_compilation(model, (device,))
            memory = memory_for_sum(app, compilation)
            fill(app, memory)
            output = memory_for_sum(app, compilation)
            app.expect("compute", app.compute(execution_between(app, compilation, memory, output)))
            checks.equal(content_of(app, output), TOTAL, "the sum")


@cases.case("chain", "FW-GEN-007", since=Version.V1_3)
def chain(context: CaseContext) -> None:
    """What one execution writes another reads without a copy, in all ways, and also of another compilation."""
    app = RuntimeApp(context)
    compilations = [compilation_of_sum(app) for _ in range(2)]
    roles = [Role(role, compilation, 0) for role in BOTH for compilation in compilations]
    left, right = (memory_of_roles(app, roles) for _ in range(2))
    fill(app, left, (0.0, 0.0))
    rounds = list(enumerate(ways(app.level) * 2))
    for number, way in rounds:
        compilation = compilations[number % 2]
        source, target = (left, right) if number % 2 == 0 else (right, left)
        app.expect(way, compute(app, way, execution_between(app, compilation, source, target), compilation))
    expected = (len(rounds) * SECOND[0], len(rounds) * SECOND[1])
    checks.equal(content_of(app, left), expected, "the last sum")


@cases.case("several_readers", "FW-MEM-012", since=Version.V1_3)
def several_readers(context: CaseContext) -> None:
    """Executions that read one memory at once all get its values."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    memory = memory_for_sum(app, compilation)
    fill(app, memory)
    outputs = [place(app.memory, bytes(8)) for _ in range(4)]
    executions = []
    for output in outputs:
        execution = app.execution(compilation)
        app.succeed("execution_set_input_from_memory", execution, 0, None, memory, 0, 0)
        app.succeed("execution_set_input", execution, 1, None, place(app.memory, packed(SECOND)), 8)
        app.succeed("execution_set_output", execution, 0, None, output, 8)
        executions.append(execution)
    results = context.run_concurrently([partial(app.compute, each) for each in executions])
    checks.equal(results, [ResultCode.NO_ERROR] * 4, "results of four executions")
    for output in outputs:
        checks.equal(unpacked(app.memory.read(output, 8)), TOTAL, "the sum")


@cases.case("conflicting_writers", "FW-MEM-012", since=Version.V1_3)
def conflicting_writers(context: CaseContext) -> None:
    """Executions that write one memory at once end, in whatever result; afterwards it is usable."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    source, target = (memory_for_sum(app, compilation) for _ in range(2))
    fill(app, source)
    executions = [execution_between(app, compilation, source, target) for _ in range(4)]
    for result in context.run_concurrently([partial(app.compute, each) for each in executions]):
        if isinstance(result, InterfaceError):
            raise result
    app.expect("compute", app.compute(execution_between(app, compilation, source, target)))
    checks.equal(content_of(app, target), TOTAL, "the sum")


@cases.case("uninitialised_input", "FW-MEM-004", since=Version.V1_3)
def uninitialised_input(context: CaseContext) -> None:
    """An execution that reads memory to which nothing was written fails with OP_FAILED in every way."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for way in ways(app.level):
        with context.configuration(way):
            first, output = memory_for_sum(app, compilation), memory_for_sum(app, compilation)
            code = compute(app, way, execution_between(app, compilation, first, output), compilation)
            app.expect(f"{way} of uninitialised memory", code, ResultCode.OP_FAILED)
            fill(app, first)
            app.expect(way, compute(app, way, execution_between(app, compilation, first, output), compilation))
            checks.equal(content_of(app, output), TOTAL, "the sum")


@cases.case("failed_execution", "FW-MEM-005", since=Version.V1_3)
def failed_execution(context: CaseContext) -> None:
    """An execution that fails leaves its output uninitialised, even where something was in it before."""
    app = RuntimeApp(context)
    compilation = failing_compilation(app)
    for way in ways(app.level):
        with context.configuration(way):
            memory = memory_of_roles(app, [Role("output", compilation, 0)])
            fill(app, memory, (1.0, 2.0, 3.0, 4.0))
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
    opened = replace(vector.operands[vector.outputs[1]], dimensions=(0, 2))
    net = net_of(replace(vector, operands={**vector.operands, vector.outputs[1]: opened}))
    compilation = app.finished_compilation(app.built(net.wire))
    memory = memory_of_roles(app, [Role("output", compilation, 0)])
    for room, expected in ((16, ResultCode.NO_ERROR), (4, ResultCode.OUTPUT_INSUFFICIENT_SIZE)):
        execution = app.execution(compilation)
        for index, name in enumerate(net.vector.inputs):
            data = place(app.memory, net.inputs[name].tobytes())
            app.succeed("execution_set_input", execution, index, None, data, 16)
        app.succeed("execution_set_output_from_memory", execution, 0, None, memory, 0, 0)
        app.succeed("execution_set_output", execution, 1, None, place(app.memory, bytes(room)), room)
        app.expect("execution_compute", app.compute(execution), expected)
    app.refused("memory_copy", ResultCode.BAD_DATA, memory, app.shared_memory(16)[0])


@cases.case("wrong_use", "FW-MEM-003", since=Version.V1_3)
def wrong_use(context: CaseContext) -> None:
    """Memory from a descriptor is used in its roles, as a whole, and as no constant."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    other = compilation_of_sum(app)
    memory = memory_for_sum(app, compilation, ("input",))
    fill(app, memory)
    execution, foreign = app.execution(compilation), app.execution(other)
    bad, as_input = ResultCode.BAD_DATA, "execution_set_input_from_memory"
    for offset, length in ((0, 8), (4, 0), (4, 4), (0, 4)):
        app.refused(as_input, bad, execution, 0, None, memory, offset, length)
    app.refused(as_input, bad, execution, 1, None, memory, 0, 0)
    app.refused("execution_set_output_from_memory", bad, execution, 0, None, memory, 0, 0)
    app.refused(as_input, bad, foreign, 0, None, memory, 0, 0)
    app.refused("model_set_operand_value_from_memory", bad, app.operands_of_add(), 0, memory, 0, 8)
    app.succeed(as_input, execution, 0, None, memory, 0, 0)


@cases.case("outlives_descriptor", "FW-MEM-001", since=Version.V1_3)
def outlives_descriptor(context: CaseContext) -> None:
    """One descriptor gives several memories, and may be freed before they are used."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    made = descriptor(app, [Role("input", compilation, 0), Role("output", compilation, 0)])
    first, second = (app.memory_of(made) for _ in range(2))
    app.free(made)
    fill(app, first)
    app.expect("compute", app.compute(execution_between(app, compilation, first, second)))
    checks.equal(content_of(app, second), TOTAL, "the sum")


@cases.case("several_of_one_descriptor", "FW-MEM-001", "FW-MEM-003", "FW-MEM-004", "FW-MEM-006", since=Version.V1_3)
def several_of_one_descriptor(context: CaseContext) -> None:
    """Memories of one descriptor are each for themselves: each has its value, its roles and its life."""
    app = RuntimeApp(context)
    model = app.finished_model()
    for name, devices in {"default": (), **{name: (one,) for name, one in devices_to_name(app).items()}}.items():
        with context.configuration(name):
            for device in devices:
                need_sum(app, model, device)
            compilation = app.finished_compilation(model, devices)
            made = descriptor(app, [Role(role, compilation, 0) for role in BOTH])
            first, second, third = (app.memory_of(made) for _ in range(3))
            _judge_each_alone(app, compilation, first, second, third)


def _judge_each_alone(app: RuntimeApp, compilation: int, first: int, second: int, third: int) -> None:
    fill(app, first)
    _has_no_value(app, compilation, second, third)
    app.expect("compute", app.compute(execution_between(app, compilation, first, second)))
    _has_no_value(app, compilation, third, second)
    app.expect("compute", app.compute(execution_between(app, compilation, first, second)))
    checks.equal((content_of(app, first), content_of(app, second)), (FIRST, TOTAL), "the input and the sum")
    app.free(first)
    app.expect("compute", app.compute(execution_between(app, compilation, second, third)))
    expected = tuple(one + other for one, other in zip(TOTAL, SECOND, strict=True))
    checks.equal((content_of(app, second), content_of(app, third)), (TOTAL, expected), "the sum and the next one")


def _has_no_value(app: RuntimeApp, compilation: int, memory: int, output: int) -> None:
    """It can neither be copied nor read. output: where the execution that fails would write; it loses its value."""
    target, _ = app.shared_memory(8)
    app.refused("memory_copy", ResultCode.BAD_DATA, memory, target)
    app.expect("compute", app.compute(execution_between(app, compilation, memory, output)), ResultCode.OP_FAILED)


@cases.case("reused_after_free", "FW-MEM-004", since=Version.V1_3)
def reused_after_free(context: CaseContext) -> None:
    """Memory that is made after another was freed begins uninitialised."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    memory = memory_for_sum(app, compilation)
    fill(app, memory)
    app.free(memory)
    again = memory_for_sum(app, compilation)
    output = memory_for_sum(app, compilation)
    app.expect("compute", app.compute(execution_between(app, compilation, again, output)), ResultCode.OP_FAILED)
