"""Memory from descriptors over drivers of the case's own: who allocates it, and what a fallback does with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.described_sums import execution_between, fill
from npu_conformance.cts.lib.runtime.driver_memory import allocations, check_content, compute_between, driver_memory
from npu_conformance.cts.lib.runtime.memories import Role, described, descriptor
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver, failing, misbehaving
from npu_conformance.cts.lib.runtime.sums import FIRST, SECOND, TOTAL, packed, unpacked
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.nnapi.app import UNKNOWN_DIMENSION
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL, OperandDescription, Pointer
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.memory.drivers", interface="runtime")

_OK = ResultCode.NO_ERROR
_UNKNOWN_DIMENSIONS = replace(UNKNOWN_DIMENSION, dimension_count=2, dimensions=(0, 0))
_SIX = (1.0, -2.0, 0.5, 4.0, 8.0, -16.0)


@cases.case("one_device", "FW-MEM-011", "FW-GEN-007", since=Version.V1_3)
def one_device(context: CaseContext) -> None:
    """Memory of which one driver alone has all roles is that driver's, and its executions use it."""
    app = ScriptedApp(context, driver("one"), driver("other"))
    (device,) = app.named("one")
    compilation = app.finished_compilation(app.finished_model(), (device,))
    roles = (Role("input", compilation, 0), Role("output", compilation, 0))
    first, output = driver_memory(app, *roles), driver_memory(app, *roles)
    checks.equal(allocations(app, "one"), 2, "buffers of the driver that all roles are of")
    checks.equal(len(app.calls("other", "allocate")), 0, "calls of allocate to the driver that no role is of")
    fill(app, first)
    compute_between(app, compilation, first, output)
    check_content(app, output)
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
    memory = driver_memory(
        app, Role("input", one, 0), Role("input", other, 1), Role("output", one, 0), Role("input", one, 1)
    )
    for compilation, index in ((one, 0), (one, 1), (other, 1)):
        with context.configuration(f"{'one' if compilation == one else 'other'}.input{index}"):
            fill(app, memory)
            execution = app.execution(compilation)
            app.succeed("execution_set_input_from_memory", execution, index, None, memory, 0, 0)
            app.succeed("execution_set_input", execution, 1 - index, None, place(app.memory, packed(SECOND)), 8)
            output = place(app.memory, bytes(8))
            app.succeed("execution_set_output", execution, 0, None, output, 8)
            app.expect("execution_compute", app.compute(execution))
            checks.equal(unpacked(app.memory.read(output, 8)), TOTAL, "the sum")


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
    first = driver_memory(app, *roles)
    fill(app, first)
    compute_between(app, compilations[0], first, made)
    compute_between(app, compilations[1], made, first)
    check_content(app, first, (2.0, 6.0))


@cases.case("declined", "FW-MEM-009", since=Version.V1_3)
def declined(context: CaseContext) -> None:
    """Where a driver declines to allocate, the runtime's own memory takes its place."""
    app = ScriptedApp(context, driver("declining", **failing("allocate")))
    compilation = app.finished_compilation(app.finished_model())
    roles = (Role("input", compilation, 0), Role("output", compilation, 0))
    first, output = driver_memory(app, *roles), driver_memory(app, *roles)
    checks.equal(allocations(app, "declining"), 0, "buffers of the driver that declines")
    fill(app, first)
    compute_between(app, compilation, first, output)
    check_content(app, output)


@cases.case("over_a_burst", "FW-GEN-007", "FW-EXE-016", since=Version.V1_3)
def over_a_burst(context: CaseContext) -> None:
    """A driver's memory is used over a burst, beside memory of the app's; the packets of HIDL have no place for it."""
    for hal in (Version.V1_3, Version.FL8):
        with context.configuration(hal.name.lower()):
            app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
            compilation = app.finished_compilation(app.finished_model(), app.named("one"))
            first, output = (driver_memory(app, Role(role, compilation, 0)) for role in ("input", "output"))
            fill(app, first)
            burst = app.made("burst_create", compilation, True)
            for _ in range(2):
                execution = execution_between(app, compilation, first, output)
                app.succeed("execution_burst_compute", execution, burst)
                check_content(app, output)
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
        fill(app, first)
        compute_between(app, compilation, first, output)
        check_content(app, output)
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


@cases.case("unknown_shape_is_copied", "FW-MEM-006", "FW-MEM-008", since=Version.V1_3)
def unknown_shape_is_copied(context: CaseContext) -> None:
    """A copy tells a driver's memory of unknown shape what shape it has: that of the source."""
    app = ScriptedApp(context, driver("one", exec_time=FAST))
    compilation = app.finished_compilation(app.finished_model(UNKNOWN_DIMENSION, UNKNOWN_DIMENSION), app.named("one"))
    source, target = (
        driver_memory(app, *(Role(role, compilation, 0) for role in ("input", "output"))) for _ in range(2)
    )
    _open_sum(app, compilation, place(app.memory, packed(FIRST)), source)
    app.succeed("memory_copy", source, target)
    check_content(app, target)
    result = driver_memory(app, Role("output", compilation, 0))
    _open_sum(app, compilation, target, result)
    check_content(app, result, tuple(one + two for one, two in zip(TOTAL, SECOND, strict=True)))


@cases.case("unknown_shape_is_copied_each_time", "FW-MEM-006", "FW-MEM-008", since=Version.V1_3)
def unknown_shape_is_copied_each_time(context: CaseContext) -> None:
    """Each copy tells a driver's memory its shape anew, also where it has as many bytes as the one before."""
    app = ScriptedApp(context, driver("one", exec_time=FAST))
    compilation = app.finished_compilation(
        app.finished_model(_UNKNOWN_DIMENSIONS, _UNKNOWN_DIMENSIONS), app.named("one")
    )
    target, result = (driver_memory(app, Role(role, compilation, 0)) for role in ("input", "output"))
    for shape in ((2, 3), (3, 2), (6, 1), (2, 3)):
        source = driver_memory(app, Role("output", compilation, 0))
        _sum_of(app, compilation, shape, place(app.memory, packed(_SIX)), source)
        app.succeed("memory_copy", source, target)
        _sum_of(app, compilation, shape, target, result)
        check_content(app, result, tuple(3 * one for one in _SIX))


def _sum_of(app: ScriptedApp, compilation: int, shape: tuple[int, ...], first: Pointer | int, output: int) -> None:
    """Add six numbers of this shape. first: where they are, or memory that holds them."""
    execution = app.execution(compilation)
    sized = replace(_UNKNOWN_DIMENSIONS, dimensions=shape)
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
    two = replace(UNKNOWN_DIMENSION, dimensions=(2,))
    if isinstance(first, Pointer):
        app.succeed("execution_set_input", execution, 0, two, first, 8)
    else:
        app.succeed("execution_set_input_from_memory", execution, 0, two, first, 0, 0)
    app.succeed("execution_set_input", execution, 1, two, place(app.memory, packed(SECOND)), 8)
    app.succeed("execution_set_output_from_memory", execution, 0, None, output, 0, 0)
    app.expect("execution_compute", app.compute(execution))


@cases.case("shape_of_last_time", "FW-MEM-007", "FW-MEM-005", since=Version.V1_3)
def shape_of_last_time(context: CaseContext) -> None:
    """Memory of open shape has as an input the shape of the last execution that wrote it, and no other."""
    app = ScriptedApp(context, driver("one"))
    model = app.finished_model(UNKNOWN_DIMENSION, UNKNOWN_DIMENSION)
    compilation = app.finished_compilation(model, app.named("one"))
    memory = driver_memory(app, Role("output", compilation, 0), Role("input", compilation, 0))
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
