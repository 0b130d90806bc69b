"""Memory from descriptors over drivers of the case's own: who allocates it, and what a fallback does with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.control_flow_nets import CONDITION
from npu_conformance.cts.lib.runtime.described_sums import execution_between
from npu_conformance.cts.lib.runtime.fixture import VECTOR
from npu_conformance.cts.lib.runtime.memories import Role, described, descriptor, object_of
from npu_conformance.cts.lib.runtime.nets import NetBuilder
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver, failing, misbehaving
from npu_conformance.cts.lib.runtime.sums import (
    FIRST,
    OPEN_SIZE,
    SECOND,
    TOTAL,
    failing_compilation,
    failing_execution,
    packed,
    unpacked,
)
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL, OperandDescription, Pointer
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.memory.drivers", interface="runtime")

_OK = ResultCode.NO_ERROR
_OPEN_SIZES = replace(OPEN_SIZE, dimension_count=2, dimensions=(0, 0))
_SIX = (1.0, -2.0, 0.5, 4.0, 8.0, -16.0)


def _allocations(app: ScriptedApp, name: str) -> int:
    """How many buffers a driver has given."""
    calls = app.control.driver_calls(name)
    return sum(call.method == "allocate" and call.status == ErrorStatus.NONE for call in calls)


def _memory(app: ScriptedApp, *roles: Role) -> int:
    made = described(app, roles)
    if made is None:
        given = sum(_allocations(app, name) for name in app.driver_names)
        checks.equal(given, 0, "buffers that drivers gave, where the app got no memory")
        raise NotApplicable("the runtime gives no memory from this descriptor")
    return made


def _compute(app: ScriptedApp, compilation: int, first: int, output: int) -> None:
    app.expect("execution_compute", app.compute(execution_between(app, compilation, first, output)))


def _fill(app: ScriptedApp, memory: int) -> None:
    app.succeed("memory_copy", app.shared_memory(8, packed(FIRST))[0], memory)


def _check(app: ScriptedApp, memory: int, expected: tuple[float, ...] = TOTAL) -> None:
    pool = app.context.pool(4 * len(expected))
    app.succeed("memory_copy", memory, object_of(app, pool.memory))
    checks.equal(unpacked(pool.read(0, 4 * len(expected))), expected, "the sum")


@cases.case("one_device", "FW-MEM-011", "FW-GEN-007", since=Version.V1_3)
def one_device(context: CaseContext) -> None:
    """Memory of which one driver alone has all roles is that driver's, and its executions use it."""
    app = ScriptedApp(context, driver("one"), driver("other"))
    (device,) = app.named("one")
    compilation = app.finished_compilation(app.finished_model(), (device,))
    roles = (Role("input", compilation, 0), Role("output", compilation, 0))
    first, output = _memory(app, *roles), _memory(app, *roles)
    checks.equal(_allocations(app, "one"), 2, "buffers of the driver that all roles are of")
    checks.equal(len(app.calls("other", "allocate")), 0, "calls of allocate to the driver that no role is of")
    _fill(app, first)
    _compute(app, compilation, first, output)
    _check(app, output)
    executed = app.executed_once("one")
    tokens = [pool.token for pool in executed.request.pools if pool.token] if executed.request else []
    checks.equal(len(set(tokens)), 2, "driver-managed buffers that the request of the execution names")


@cases.case("one_role_elsewhere", "FW-MEM-011", since=Version.V1_3)
def one_role_elsewhere(context: CaseContext) -> None:
    """Memory with several roles of one driver and one of another belongs to neither, wherever that one is named."""
    for place_of_other in range(4):
        with context.configuration(f"place{place_of_other}"):
            app = ScriptedApp(context, driver("one"), driver("other"))
            model = app.finished_model()
            one, other = (app.finished_compilation(model, app.named(name)) for name in ("one", "other"))
            roles = [Role("input", one, 0), Role("output", one, 0), Role("input", one, 1)]
            roles.insert(place_of_other, Role("input", other, 0))
            described(app, roles)
            for name in ("one", "other"):
                checks.equal(
                    len(app.calls(name, "allocate")), 0, f"calls of allocate to {name} for memory that both use"
                )


@cases.case("each_version", "FW-MEM-011", "FW-VER-001", since=Version.V1_3)
def each_version(context: CaseContext) -> None:
    """Drivers are asked for memory from HAL 1.3 on, which brought it: all of these, or none, and never an older one."""
    asked = []
    for hal in Version:
        app = ScriptedApp(context, driver("one", hal=hal))
        compilation = app.finished_compilation(app.finished_model(), app.named("one"))
        described(app, [Role("input", compilation, 0)])
        if app.calls("one", "allocate"):
            asked.append(hal)
    if asked:
        checks.equal(asked, [hal for hal in Version if hal >= Version.V1_3], "HAL versions of drivers that were asked")


@cases.case("roles_in_turn", "FW-MEM-011", "FW-GEN-007", since=Version.V1_3)
def roles_in_turn(context: CaseContext) -> None:
    """Memory with roles of two compilations in turn serves each of them, whichever was named last."""
    app = ScriptedApp(context, driver("one"))
    one, other = (app.finished_compilation(app.finished_model(), app.named("one")) for _ in range(2))
    memory = _memory(app, Role("input", one, 0), Role("input", other, 1), Role("output", one, 0), Role("input", one, 1))
    for compilation, index in ((one, 0), (one, 1), (other, 1)):
        with context.configuration(f"{'one' if compilation == one else 'other'}.input{index}"):
            _fill(app, memory)
            execution = app.execution(compilation)
            app.succeed("execution_set_input_from_memory", execution, index, None, memory, 0, 0)
            app.succeed("execution_set_input", execution, 1 - index, None, place(app.memory, packed(SECOND)), 8)
            output = place(app.memory, bytes(8))
            app.succeed("execution_set_output", execution, 0, None, output, 8)
            app.expect("execution_compute", app.compute(execution))
            checks.equal(unpacked(app.memory.read(output, 8)), TOTAL, "the sum")


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
    memories = [_memory(app, Role("output", compiled.handle, index)) for index in range(3)]
    for index, memory in enumerate(memories):
        app.succeed("execution_set_output_from_memory", execution, index, None, memory, 0, 0)
    app.expect("execution_compute", app.compute(execution))
    for memory, array in zip(memories, net.expected().values(), strict=True):
        pool = context.pool(16)
        app.succeed("memory_copy", memory, object_of(app, pool.memory))
        checks.equal(unpacked(pool.read(0, 16)), tuple(array.ravel().tolist()), "an output")


@cases.case("two_devices", "FW-MEM-011", "FW-MEM-009", since=Version.V1_3)
def two_devices(context: CaseContext) -> None:
    """Memory whose roles are of two drivers belongs to neither; where the runtime gives some, both use it."""
    app = ScriptedApp(context, driver("one"), driver("other"))
    model = app.finished_model()
    compilations = [app.finished_compilation(model, app.named(name)) for name in ("one", "other")]
    roles = [Role(role, compilation, 0) for role in ("input", "output") for compilation in compilations]
    made = described(app, roles)
    for name in ("one", "other"):
        checks.equal(len(app.calls(name, "allocate")), 0, f"calls of allocate to {name}")
    if made is None:
        return
    first = _memory(app, *roles)
    _fill(app, first)
    _compute(app, compilations[0], first, made)
    _compute(app, compilations[1], made, first)
    _check(app, first, (2.0, 6.0))


@cases.case("fallback", "FW-MEM-014", "FW-PRT-010", since=Version.V1_3)
def fallback(context: CaseContext) -> None:
    """Where a driver fails to execute, the CPU computes what is in the driver's memory and puts the result there."""
    app = ScriptedApp(context, driver("failing", **failing("execute")))
    compilation = app.finished_compilation(app.finished_model())
    roles = (Role("input", compilation, 0), Role("output", compilation, 0))
    first, output = _memory(app, *roles), _memory(app, *roles)
    checks.equal(_allocations(app, "failing"), 2, "buffers of the only driver")
    _fill(app, first)
    _compute(app, compilation, first, output)
    _check(app, output)
    _check(app, first, FIRST)


@cases.case("declined", "FW-MEM-009", since=Version.V1_3)
def declined(context: CaseContext) -> None:
    """Where a driver declines to allocate, the runtime's own memory takes its place."""
    app = ScriptedApp(context, driver("declining", **failing("allocate")))
    compilation = app.finished_compilation(app.finished_model())
    roles = (Role("input", compilation, 0), Role("output", compilation, 0))
    first, output = _memory(app, *roles), _memory(app, *roles)
    checks.equal(_allocations(app, "declining"), 0, "buffers of the driver that declines")
    _fill(app, first)
    _compute(app, compilation, first, output)
    _check(app, output)


@cases.case("over_a_burst", "FW-GEN-007", "FW-EXE-016", since=Version.V1_3)
def over_a_burst(context: CaseContext) -> None:
    """A driver's memory is used over a burst, beside memory of the app's; the packets of HIDL have no place for it."""
    for hal in (Version.V1_3, Version.FL8):
        with context.configuration(hal.name.lower()):
            app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
            compilation = app.finished_compilation(app.finished_model(), app.named("one"))
            first, output = (_memory(app, Role(role, compilation, 0)) for role in ("input", "output"))
            _fill(app, first)
            burst = app.made("burst_create", compilation, True)
            for _ in range(2):
                execution = execution_between(app, compilation, first, output)
                app.succeed("execution_burst_compute", execution, burst)
                _check(app, output)
            for call in app.executions("one"):
                pools = zip(call.request.pools, call.memory_tokens, strict=False) if call.request else ()
                named = [token for pool, token in pools if pool.token]
                checks.equal(set(named) - {-1}, set(), "identifiers of memory for buffers of the driver's own")
            app.close()


_NO_MEMORY = {
    "fails": failing("allocate"),
    "gives_no_buffer": misbehaving("allocate", "null"),
    "gives_no_token": misbehaving("allocate", "token"),
    "has_no_buffers": {"has_buffers": False},
}
"""Drivers that decline, or answer with what is no memory, as fields of a script."""


def _declare_no_memory(name: str, fields: Mapping[str, Any]) -> None:
    @cases.case(f"{name}.default", "FW-MEM-009", since=Version.V1_3)
    def by_default(context: CaseContext) -> None:
        """Where no device was named the runtime's own memory takes the place of the driver's."""
        app = ScriptedApp(context, driver("one", exec_time=FAST, **fields))
        compilation = app.finished_compilation(app.finished_model())
        roles = (Role("input", compilation, 0), Role("output", compilation, 0))
        made = [described(app, roles) for _ in range(2)]
        if None in made:
            context.warn_quality("no memory of the runtime's own takes the place of a driver's")
            raise NotApplicable("the runtime gives no memory from this descriptor")
        first, output = (memory for memory in made if memory is not None)
        _fill(app, first)
        _compute(app, compilation, first, output)
        _check(app, output)
        checks.equal(len(app.executions("one")), 1, "executions by the driver")

    @cases.case(f"{name}.named", "FW-MEM-015", since=Version.V1_3)
    def by_name(context: CaseContext) -> None:
        """Where the app named it nothing does: OP_FAILED, also where another use is of a default compilation."""
        app = ScriptedApp(context, driver("one", exec_time=FAST, **fields))
        model = app.finished_model()
        named, default = app.finished_compilation(model, app.named("one")), app.finished_compilation(model)
        for roles in ([named], [named, default], [default, named]):
            made = descriptor(app, [Role("input", compilation, 0) for compilation in roles])
            answer = app.refused("memory_create_from_desc", ResultCode.OP_FAILED, made, True)
            checks.equal(answer.handle, NULL, "memory_create_from_desc: the handle where it failed")


@cases.case("named_driver_and_cpu", "FW-MEM-015", "FW-MEM-011", since=Version.V1_3)
def named_driver_and_cpu(context: CaseContext) -> None:
    """Memory that a named driver and the named CPU use is nobody's: OP_FAILED, in whichever order, for whatever use."""
    app = ScriptedApp(context, driver("one", exec_time=FAST))
    model = app.finished_model()
    compilations = [app.finished_compilation(model, app.named(name)) for name in ("one", "nnapi-reference")]
    for role in ("input", "output"):
        for order in (compilations, compilations[::-1]):
            made = descriptor(app, [Role(role, compilation, 0) for compilation in order])
            answer = app.refused("memory_create_from_desc", ResultCode.OP_FAILED, made, True)
            checks.equal(answer.handle, NULL, "memory_create_from_desc: the handle where it failed")


for _name, _fields in _NO_MEMORY.items():
    _declare_no_memory(_name, _fields)


@cases.case("fallback_of_unknown_shape", "FW-MEM-014", "FW-PRT-010", since=Version.V1_3)
def fallback_of_unknown_shape(context: CaseContext) -> None:
    """The CPU cannot stand in where it does not know how much of a driver's memory the output takes: OP_FAILED."""
    app = ScriptedApp(context, driver("failing", exec_time=FAST, **failing("execute")))
    compilation = app.finished_compilation(app.finished_model(VECTOR, OPEN_SIZE))
    output = _memory(app, Role("output", compilation, 0))
    execution = app.execution(compilation)
    app.set_inputs(execution)
    app.succeed("execution_set_output_from_memory", execution, 0, None, output, 0, 0)
    app.expect("execution_compute", app.compute(execution), ResultCode.OP_FAILED)
    app.refused("memory_copy", ResultCode.BAD_DATA, output, app.shared_memory(8)[0])


@cases.case("unknown_shape_is_copied", "FW-MEM-006", "FW-MEM-008", since=Version.V1_3)
def unknown_shape_is_copied(context: CaseContext) -> None:
    """A copy tells a driver's memory of unknown shape what shape it has: that of the source."""
    app = ScriptedApp(context, driver("one", exec_time=FAST))
    compilation = app.finished_compilation(app.finished_model(OPEN_SIZE, OPEN_SIZE), app.named("one"))
    source, target = (_memory(app, *(Role(role, compilation, 0) for role in ("input", "output"))) for _ in range(2))
    _open_sum(app, compilation, place(app.memory, packed(FIRST)), source)
    app.succeed("memory_copy", source, target)
    _check(app, target)
    result = _memory(app, Role("output", compilation, 0))
    _open_sum(app, compilation, target, result)
    _check(app, result, tuple(one + two for one, two in zip(TOTAL, SECOND, strict=True)))


@cases.case("unknown_shape_is_copied_each_time", "FW-MEM-006", "FW-MEM-008", since=Version.V1_3)
def unknown_shape_is_copied_each_time(context: CaseContext) -> None:
    """Each copy tells a driver's memory its shape anew, also where it has as many bytes as the one before."""
    app = ScriptedApp(context, driver("one", exec_time=FAST))
    compilation = app.finished_compilation(app.finished_model(_OPEN_SIZES, _OPEN_SIZES), app.named("one"))
    target, result = (_memory(app, Role(role, compilation, 0)) for role in ("input", "output"))
    for shape in ((2, 3), (3, 2), (6, 1), (2, 3)):
        source = _memory(app, Role("output", compilation, 0))
        _sum_of(app, compilation, shape, place(app.memory, packed(_SIX)), source)
        app.succeed("memory_copy", source, target)
        _sum_of(app, compilation, shape, target, result)
        _check(app, result, tuple(3 * one for one in _SIX))


def _sum_of(app: ScriptedApp, compilation: int, shape: tuple[int, ...], first: Pointer | int, output: int) -> None:
    """Add six numbers of this shape. first: where they are, or memory that holds them."""
    execution = app.execution(compilation)
    sized = replace(_OPEN_SIZES, dimensions=shape)
    if isinstance(first, Pointer):
        app.succeed("execution_set_input", execution, 0, sized, first, 4 * len(_SIX))
    else:
        app.succeed("execution_set_input_from_memory", execution, 0, sized, first, 0, 0)
    app.succeed("execution_set_input", execution, 1, sized, place(app.memory, packed(_SIX)), 4 * len(_SIX))
    app.succeed("execution_set_output_from_memory", execution, 0, None, output, 0, 0)
    app.expect("execution_compute", app.compute(execution))


def _open_sum(app: ScriptedApp, compilation: int, first: Pointer | int, output: int) -> None:
    """Compute a sum of unknown size. first: two floats behind a pointer, or memory that holds them."""
    execution = app.execution(compilation)
    two = replace(OPEN_SIZE, dimensions=(2,))
    if isinstance(first, Pointer):
        app.succeed("execution_set_input", execution, 0, two, first, 8)
    else:
        app.succeed("execution_set_input_from_memory", execution, 0, two, first, 0, 0)
    app.succeed("execution_set_input", execution, 1, two, place(app.memory, packed(SECOND)), 8)
    app.succeed("execution_set_output_from_memory", execution, 0, None, output, 0, 0)
    app.expect("execution_compute", app.compute(execution))


@cases.case("fallback_of_one_byte", "FW-MEM-014", "FW-PRT-010", since=Version.V1_3)
def fallback_of_one_byte(context: CaseContext) -> None:
    """Of a driver's memory that holds a single byte the CPU takes and gives that byte."""
    app = ScriptedApp(context, driver("failing", exec_time=FAST, **failing("execute")))
    builder = NetBuilder()
    truth = builder.input(CONDITION)
    net = builder.net(builder.apply("LOGICAL_NOT", truth, result=CONDITION))
    compiled = app.compiled(net)
    first, output = (_memory(app, Role(role, compiled.handle, 0)) for role in ("input", "output"))
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
    output = _memory(app, Role("output", compilation, 0))
    app.succeed("memory_copy", app.shared_memory(16, packed((1.0, 2.0, 3.0, 4.0)))[0], output)
    execution = failing_execution(app, compilation, sets_output=False)
    app.succeed("execution_set_output_from_memory", execution, 0, None, output, 0, 0)
    checks.that(app.compute(execution) != _OK, "an execution that nobody can compute: expected a failure")
    app.refused("memory_copy", ResultCode.BAD_DATA, output, app.shared_memory(16)[0])


@cases.case("shape_of_last_time", "FW-MEM-007", "FW-MEM-005", since=Version.V1_3)
def shape_of_last_time(context: CaseContext) -> None:
    """Memory of open shape has as an input the shape of the last execution that wrote it, and no other."""
    app = ScriptedApp(context, driver("one"))
    model = app.finished_model(OPEN_SIZE, OPEN_SIZE)
    compilation = app.finished_compilation(model, app.named("one"))
    memory = _memory(app, Role("output", compilation, 0), Role("input", compilation, 0))
    for written in (2, 3, 1):
        app.expect("an execution that writes", _computed(app, compilation, written, output=memory))
        for read in (1, 2, 3):
            with context.configuration(f"written{written}.read{read}"):
                code = _computed(app, compilation, read, first=memory)
                app.expect("an execution that reads", code, _OK if read == written else ResultCode.OP_FAILED)


def _computed(app: ScriptedApp, compilation: int, size: int, first: int = 0, output: int = 0) -> int:
    """Compute a sum of so many floats; returns the code. first, output: memory objects, 0 for the app's own memory."""
    execution = app.execution(compilation)
    described_as = OperandDescription(OperandType.TENSOR_FLOAT32, 1, (size,))
    if first:
        app.succeed("execution_set_input_from_memory", execution, 0, described_as, first, 0, 0)
    for index in (1,) if first else (0, 1):
        addend = place(app.memory, packed((1.0,) * size))
        app.succeed("execution_set_input", execution, index, described_as, addend, 4 * size)
    if output:
        app.succeed("execution_set_output_from_memory", execution, 0, None, output, 0, 0)
    else:
        app.succeed("execution_set_output", execution, 0, None, place(app.memory, bytes(4 * size)), 4 * size)
    return app.compute(execution)
