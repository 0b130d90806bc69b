"""Bursts, events, descriptors of memory, and memory that comes from them."""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.cts.lib.runtime.fixture import ADDENDS, VECTOR_BYTES, RuntimeApp
from npu_conformance.cts.lib.runtime.legal.memories import allocates, computes_with, finish
from npu_conformance.cts.lib.runtime.refusals import refuses
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import Case, CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

_executions = CaseGroup("cts.states", interface="runtime", group=Group.RUNTIME_EXECUTIONS)
_memories = CaseGroup("cts.states", interface="runtime", group=Group.RUNTIME_MEMORIES)

_MODIFIERS = (
    "memory_desc_add_input_role",
    "memory_desc_add_output_role",
    "memory_desc_set_dimensions",
    "memory_desc_finish",
)
_WAITERS = 4


@_executions.case("burst.one_execution_after_the_other", "FW-EXE-014", "FW-EXE-015", since=Version.V1_2)
def one_execution_after_the_other(context: CaseContext) -> None:
    """A burst takes one execution after the other, and a refused one disturbs none."""
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    burst = app.made("burst_create", compilation, True)
    for _ in range(3):
        execution = app.ready_execution(compilation)
        app.succeed("execution_burst_compute", execution, burst)
        app.check_sum(execution)
        app.refused("execution_burst_compute", ResultCode.BAD_STATE, execution, burst)


@_executions.case("burst.memory_freed_before_and_after", "FW-EXE-016", since=Version.V1_2)
def memory_freed_before_and_after(context: CaseContext) -> None:
    """Memory that an execution over a burst has used is freed before the burst, and behind it."""
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    for frees_memory_first in (True, False):
        burst, (memory, _) = app.made("burst_create", compilation, True), app.shared_memory(64, ADDENDS[0])
        execution = app.execution(compilation)
        app.succeed("execution_set_input_from_memory", execution, 0, None, memory, 0, VECTOR_BYTES)
        second = place(app.memory, ADDENDS[1])
        app.succeed("execution_set_input", execution, 1, None, second, VECTOR_BYTES)
        app.set_output(execution)
        app.succeed("execution_burst_compute", execution, burst)
        app.check_sum(execution)
        for handle in (execution, *((memory, burst) if frees_memory_first else (burst, memory))):
            app.free(handle)


@_executions.case("burst.freed_unused", "FW-API-003", since=Version.V1_2)
def burst_freed_unused(context: CaseContext) -> None:
    """A burst that nothing was computed over is freed, and disturbs no other of the compilation."""
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    kept, unused = (app.made("burst_create", compilation, True) for _ in range(2))
    app.free(unused)
    execution = app.ready_execution(compilation)
    app.succeed("execution_burst_compute", execution, kept)
    app.check_sum(execution)


@_executions.case("event.waited_for_again", "FW-EXE-013")
def waited_for_again(context: CaseContext) -> None:
    """An event can be waited for again, and gives the same result each time."""
    app = RuntimeApp(context)
    execution = app.ready_execution()
    event = app.started(execution)
    for _ in range(3):
        app.succeed("event_wait", event)
    app.check_sum(execution)


@_executions.case("event.waited_for_by_several", "FW-EXE-013")
def waited_for_by_several(context: CaseContext) -> None:
    """Several threads wait for one event, and each gets the result."""
    app = RuntimeApp(context)
    execution = app.ready_execution()
    event = app.started(execution)
    for result in context.run_concurrently([lambda: int(app.call("event_wait", event))] * _WAITERS):
        if isinstance(result, Exception):
            raise result
        app.expect("event_wait", result)
    app.check_sum(execution)


@_executions.case("event.freed_without_waiting", "FW-API-003", "FW-EXE-013")
def freed_without_waiting(context: CaseContext) -> None:
    """To free an event waits for its computation: the sum is there."""
    app = RuntimeApp(context)
    execution = app.ready_execution()
    app.free(app.started(execution))
    app.check_sum(execution)


@_memories.case("descriptor.unfinished_makes_no_memory", "FW-MEM-001", since=Version.V1_3)
def unfinished_makes_no_memory(context: CaseContext) -> None:
    """From a descriptor without roles, or with one and not finished, no memory is made; once it is finished, it is."""
    app = RuntimeApp(context)
    descriptor = app.made("memory_desc_create", True)
    app.refused("memory_create_from_desc", ResultCode.BAD_STATE, descriptor, True)
    app.refused("memory_desc_finish", ResultCode.BAD_DATA, descriptor)
    app.succeed("memory_desc_add_input_role", descriptor, app.finished_compilation(), 0, 1.0)
    app.refused("memory_create_from_desc", ResultCode.BAD_STATE, descriptor, True)
    finish(app, descriptor)


@_memories.case("descriptor.finished_refuses_changes", "FW-MEM-001", since=Version.V1_3)
def finished_refuses_changes(context: CaseContext) -> None:
    """A finished descriptor refuses every change and a second finish, and makes memory, more than once."""
    app = RuntimeApp(context)
    descriptor = app.finished_descriptor()
    refuses(app, _MODIFIERS, "desc", descriptor, ResultCode.BAD_STATE)
    made = []
    for _ in range(2):
        memory = app.memory_if_given(descriptor)
        made.append(memory is not None)
        if memory is not None:
            app.free(memory)  # there may be room for one alone
    checks.equal(made[1], made[0], "whether the descriptor makes memory the second time")
    allocates(app, descriptor)


@_memories.case("descriptor.freed_in_every_state", "FW-API-003", since=Version.V1_3)
def descriptor_freed_in_every_state(context: CaseContext) -> None:
    """A descriptor is freed empty, with a role and finished; memory that was made from it lives on."""
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    for descriptor in (app.made("memory_desc_create", True), app.descriptor(), app.finished_descriptor()):
        app.free(descriptor)
    used = app.finished_descriptor(compilation)
    memory = app.memory_of(used)
    app.free(used)
    _fill(app, memory)
    _computes(app, compilation, memory)


def _fill(app: RuntimeApp, memory: int) -> None:
    """Copy the first addend into memory from a descriptor."""
    source, _ = app.shared_memory(VECTOR_BYTES, ADDENDS[0])
    app.succeed("memory_copy", source, memory)


def _computes(app: RuntimeApp, compilation: int, memory: int, code: int = ResultCode.NO_ERROR) -> None:
    """Compute with the first addend in memory from a descriptor."""
    execution = app.execution(compilation)
    app.succeed("execution_set_input_from_memory", execution, 0, None, memory, 0, 0)
    app.succeed("execution_set_input", execution, 1, None, place(app.memory, ADDENDS[1]), VECTOR_BYTES)
    app.set_output(execution)
    app.expect("compute", app.compute(execution), code)
    if code == ResultCode.NO_ERROR:
        app.check_sum(execution)


@_memories.case("memory.initialised_by_copy", "FW-MEM-004", "FW-MEM-006", since=Version.V1_3)
def initialised_by_copy(context: CaseContext) -> None:
    """Memory from a descriptor is no input and no source before something was copied into it, and is behind that."""
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    memory, (target, _) = app.described_memory(compilation), app.shared_memory(VECTOR_BYTES)
    _computes(app, compilation, memory, ResultCode.OP_FAILED)
    app.refused("memory_copy", ResultCode.BAD_DATA, memory, target)
    _fill(app, memory)
    _computes(app, compilation, memory)
    app.succeed("memory_copy", memory, target)
    computes_with(app, target)


@_memories.case("memory.initialised_by_output", "FW-MEM-004", since=Version.V1_3)
def initialised_by_output(context: CaseContext) -> None:
    """Memory from a descriptor is a source once a computation has written it."""
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    memory, (target, pool) = app.described_memory(compilation, "output"), app.shared_memory(VECTOR_BYTES)
    execution = app.execution(compilation)
    app.set_inputs(execution)
    app.succeed("execution_set_output_from_memory", execution, 0, None, memory, 0, 0)
    app.refused("memory_copy", ResultCode.BAD_DATA, memory, target)
    app.expect("compute", app.compute(execution))
    app.succeed("memory_copy", memory, target)
    app.memory.write(app.output_of(execution), pool.read(0, VECTOR_BYTES))
    app.check_sum(execution)


@_memories.case("memory.uninitialised_by_failed_copy", "FW-MEM-005", "FW-MEM-006", since=Version.V1_3)
def uninitialised_by_failed_copy(context: CaseContext) -> None:
    """A copy that fails leaves its target without a value."""
    app = RuntimeApp(context)
    compilation = app.finished_compilation()
    memory, (target, _) = app.described_memory(compilation), app.shared_memory(VECTOR_BYTES)
    _fill(app, memory)
    longer, _ = app.shared_memory(64)
    app.refused("memory_copy", ResultCode.BAD_DATA, longer, memory)
    app.refused("memory_copy", ResultCode.BAD_DATA, memory, target)
    _fill(app, memory)
    _computes(app, compilation, memory)


@_memories.case("everything.is_freed", "FW-CMP-010", "FW-API-003")
def everything_is_freed(context: CaseContext) -> None:
    """After the last free the runtime holds as many objects as before."""
    control = context.present(context.subject.interfaces.runtime_control, "runtime_control")
    before = control.live_objects()
    app = RuntimeApp(context)
    app.operands_of_add()
    app.invalid_model()
    app.failed_compilation()
    compilation = app.finished_compilation()
    app.execution(compilation)
    app.completed_execution(compilation)
    app.started(app.ready_execution(compilation))
    app.shared_memory()
    if app.level >= Version.V1_2:
        app.made("burst_create", compilation, True)
    if app.level >= Version.V1_3:
        app.initialised_memory(compilation)
    checks.that(control.live_objects() > before, "the runtime does not count its objects")
    app.close()
    checks.equal(control.live_objects(), before, "objects that live after the last free")


@_memories.case("memory.freed_in_every_state", "FW-API-003")
def memory_freed_in_every_state(context: CaseContext) -> None:
    """Memory is freed unused, without a value and with one, and disturbs no other."""
    app = RuntimeApp(context)
    kept, _ = app.shared_memory(VECTOR_BYTES, ADDENDS[0])
    app.free(app.shared_memory()[0])
    if app.level >= Version.V1_3:
        app.free(app.described_memory())
        app.free(app.initialised_memory())
    computes_with(app, kept)


def cases() -> Iterator[Case]:
    """All cases."""
    yield from _executions()
    yield from _memories()
