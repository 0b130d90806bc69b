"""What a fallback to the CPU does with memory of the driver that fails."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.control_flow_nets import CONDITION
from npu_conformance.cts.lib.runtime.described_sums import fill
from npu_conformance.cts.lib.runtime.driver_memory import allocations, check_content, compute_between, driver_memory
from npu_conformance.cts.lib.runtime.fixture import VECTOR
from npu_conformance.cts.lib.runtime.memories import Role, object_of
from npu_conformance.cts.lib.runtime.nets import NetBuilder
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver, failing
from npu_conformance.cts.lib.runtime.sums import (
    FIRST,
    failing_compilation,
    failing_execution,
    packed,
    unpacked,
)
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.nnapi.app import UNKNOWN_DIMENSION
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.memory.drivers", interface="runtime")


@cases.case("fallback_of_several_outputs", "FW-MEM-014", "FW-PRT-010", since=Version.V1_3)
def fallback_of_several_outputs(context: CaseContext) -> None:
    """Where the CPU takes a driver's place, all outputs that lie in the driver's memory get their values."""
    app = ScriptedApp(context, driver("one", exec_time=FAST, **failing("execute")))
    builder = NetBuilder()
    first, second = builder.input(), builder.input()
    compiled = app.compiled(builder.net(*(builder.binary(name, first, second) for name in ("ADD", "MUL", "SUB"))))
    net = compiled.net
    execution = app.execution(compiled.handle)
    for index, name in enumerate(net.vector.inputs):
        app.succeed("execution_set_input", execution, index, None, place(app.memory, net.inputs[name].tobytes()), 16)
    memories = [driver_memory(app, Role("output", compiled.handle, index)) for index in range(3)]
    for index, memory in enumerate(memories):
        app.succeed("execution_set_output_from_memory", execution, index, None, memory, 0, 0)
    app.expect("execution_compute", app.compute(execution))
    for memory, array in zip(memories, net.expected().values(), strict=True):
        pool = context.pool(16)
        app.succeed("memory_copy", memory, object_of(app, pool.memory))
        checks.equal(unpacked(pool.read(0, 16)), tuple(array.ravel().tolist()), "an output")


@cases.case("fallback", "FW-MEM-014", "FW-PRT-010", since=Version.V1_3)
def fallback(context: CaseContext) -> None:
    """Where a driver fails to execute, the CPU computes what is in the driver's memory and puts the result there."""
    app = ScriptedApp(context, driver("failing", **failing("execute")))
    compilation = app.finished_compilation(app.finished_model())
    roles = (Role("input", compilation, 0), Role("output", compilation, 0))
    first, output = driver_memory(app, *roles), driver_memory(app, *roles)
    if not allocations(app, "failing"):  # without a list of devices shared memory may stand in (FW-MEM-009)
        raise NotApplicable("the runtime asks no driver for memory")
    checks.equal(allocations(app, "failing"), 2, "buffers of the only driver")
    fill(app, first)
    compute_between(app, compilation, first, output)
    check_content(app, output)
    check_content(app, first, FIRST)


@cases.case("fallback_of_unknown_shape", "FW-MEM-014", "FW-PRT-010", since=Version.V1_3)
def fallback_of_unknown_shape(context: CaseContext) -> None:
    """The CPU cannot stand in where it does not know how much of a driver's memory the output takes: OP_FAILED."""
    app = ScriptedApp(context, driver("failing", exec_time=FAST, **failing("execute")))
    compilation = app.finished_compilation(app.finished_model(VECTOR, UNKNOWN_DIMENSION))
    output = driver_memory(app, Role("output", compilation, 0))
    execution = app.execution(compilation)
    app.set_inputs(execution)
    app.succeed("execution_set_output_from_memory", execution, 0, None, output, 0, 0)
    app.expect("execution_compute", app.compute(execution), ResultCode.OP_FAILED)
    app.refused("memory_copy", ResultCode.BAD_DATA, output, app.shared_memory(8)[0])


@cases.case("fallback_of_one_byte", "FW-MEM-014", "FW-PRT-010", since=Version.V1_3)
def fallback_of_one_byte(context: CaseContext) -> None:
    """Of a driver's memory that holds a single byte the CPU takes and gives that byte."""
    app = ScriptedApp(context, driver("failing", exec_time=FAST, **failing("execute")))
    builder = NetBuilder()
    truth = builder.input(CONDITION)
    net = builder.net(builder.apply("LOGICAL_NOT", truth, result=CONDITION))
    compiled = app.compiled(net)
    first, output = (driver_memory(app, Role(role, compiled.handle, 0)) for role in ("input", "output"))
    for value in (1, 0):
        app.succeed("memory_copy", app.shared_memory(1, bytes([value]))[0], first)
        execution = app.execution(compiled.handle)
        app.succeed("execution_set_input_from_memory", execution, 0, None, first, 0, 0)
        app.succeed("execution_set_output_from_memory", execution, 0, None, output, 0, 0)
        app.expect("execution_compute", app.compute(execution))
        shared, pool = app.shared_memory(1)
        app.succeed("memory_copy", output, shared)
        checks.equal(pool.read(0, 1), bytes([1 - value]), "the byte of the output")


@cases.case("fallback_fails_too", "FW-MEM-005", "FW-MEM-014", since=Version.V1_3)
def fallback_fails_too(context: CaseContext) -> None:
    """Where the CPU fails as well the output is uninitialised, whatever the driver's memory held before."""
    app = ScriptedApp(context, driver("failing", exec_time=FAST, **failing("execute")))
    compilation = failing_compilation(app)
    output = driver_memory(app, Role("output", compilation, 0))
    app.succeed("memory_copy", app.shared_memory(16, packed((1.0, 2.0, 3.0, 4.0)))[0], output)
    execution = failing_execution(app, compilation, sets_output=False)
    app.succeed("execution_set_output_from_memory", execution, 0, None, output, 0, 0)
    checks.that(
        app.compute(execution) != ResultCode.NO_ERROR, "an execution that nobody can compute: expected a failure"
    )
    app.refused("memory_copy", ResultCode.BAD_DATA, output, app.shared_memory(16)[0])
