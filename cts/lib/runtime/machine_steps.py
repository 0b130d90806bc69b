"""The calls that random sequences are made of: each as a function of the machine and a step, with its weight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from npu_conformance.cts.lib.runtime import api_model
from npu_conformance.cts.lib.runtime.api_model import CompilationState, DescriptorState, ExecutionState, MemoryState
from npu_conformance.cts.lib.runtime.fixture import ACTIVATION, VECTOR
from npu_conformance.cts.lib.runtime.legal.models import UNKNOWN_DIMENSION
from npu_conformance.cts.lib.runtime.machine import ApiMachine, Code, Kind, Living, Rule, Step, handle_of, on
from npu_conformance.harness.judge import checks
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL, OperandDescription

_DESCRIBED = {
    "vector": VECTOR,
    "unknown": UNKNOWN_DIMENSION,
    "scalar": ACTIVATION,
    "scalar with dimensions": OperandDescription(OperandType.INT32, 1, (2,)),
    "scaled float": OperandDescription(OperandType.TENSOR_FLOAT32, 1, (2,), 1.0),
}
_OPERATIONS = (((0, 1, 2), 3), ((3, 1, 2), 4), ((0, 4, 2), 3), ((0, 1), 3), ((0, 1, 99), 3))
"""Inputs and output of ADDs; the last two are always wrong."""
_FREQUENCIES = (1.0, 0.5, 0.0)
_SECOND_NS = 1_000_000_000
_PREFERENCES, _PRIORITIES = (0, 1, 2, 3), (90, 100, 110, 0)
_SIZES = (8, 8, 64, 0)

Run = Callable[[ApiMachine, Step], object]


def _both(first: Living[Any] | None, second: Living[Any] | None, rule: Callable[[], Code]) -> Rule:
    """What a call on two objects has to return."""
    return lambda: ResultCode.UNEXPECTED_NULL if first is None or second is None else rule()


def _create_model(machine: ApiMachine, step: Step) -> None:
    machine.make(machine.models, api_model.ModelState, "model_create", lambda: ResultCode.NO_ERROR, True)


def _add_operand(machine: ApiMachine, step: Step) -> None:
    model = machine.models.find(step.object)
    kind = list(_DESCRIBED)[step.value % len(_DESCRIBED)]
    rule = on(model, lambda state: state.add_operand(kind))
    machine.call("model_add_operand", rule, handle_of(model), _DESCRIBED[kind])


def _set_value(machine: ApiMachine, step: Step) -> None:
    model = machine.models.find(step.object)
    index, length = (2, 2, 2, 99)[step.value % 4], (4, 4, 8)[step.value % 3]
    rule = on(model, lambda state: state.set_value(index, length))
    machine.call("model_set_operand_value", rule, handle_of(model), index, machine.room, length)


def _add_operation(machine: ApiMachine, step: Step) -> None:
    model = machine.models.find(step.object)
    inputs, output = _OPERATIONS[step.value % len(_OPERATIONS)]
    rule = on(model, lambda state: state.add_operation(inputs, output))
    machine.call("model_add_operation", rule, handle_of(model), OperationType.ADD, inputs, (output,))


def _identify(machine: ApiMachine, step: Step) -> None:
    model = machine.models.find(step.object)
    output = (3, 3, 4)[step.value % 3]
    rule = on(model, lambda state: state.identify((0, 1), output))
    machine.call("model_identify_inputs_and_outputs", rule, handle_of(model), (0, 1), (output,))


def _finish_model(machine: ApiMachine, step: Step) -> None:
    model = machine.models.find(step.object)
    machine.call("model_finish", on(model, lambda state: state.finish()), handle_of(model))


def _relax(machine: ApiMachine, step: Step) -> None:
    model = machine.models.find(step.object)
    rule = on(model, lambda state: ResultCode.NO_ERROR if state.ended is None else ResultCode.BAD_STATE)
    machine.call("model_relax_computation_float32_to_float16", rule, handle_of(model), True)


def _compile(machine: ApiMachine, step: Step) -> None:
    model = machine.models.find(step.object)
    if step.value % 2:
        devices: tuple[int, ...] = ((machine.app.cpu(),), (machine.app.cpu(),), (), (NULL,))[step.value // 2 % 4]
        early = {(): ResultCode.BAD_DATA, (NULL,): ResultCode.UNEXPECTED_NULL}.get(devices)
        rule = on(model, lambda state: early or (ResultCode.NO_ERROR if state.ended else ResultCode.BAD_STATE))
        arguments: tuple[Any, ...] = ("compilation_create_for_devices", rule, handle_of(model), devices, True)
    else:
        rule = on(model, lambda state: ResultCode.NO_ERROR if state.ended else ResultCode.BAD_STATE)
        arguments = ("compilation_create", rule, handle_of(model), True)
    made = machine.make(machine.compilations, lambda: _compilation(model, step), *arguments)
    if made is not None and model is not None:
        model.used = True


def _compilation(model: Living[api_model.ModelState] | None, step: Step) -> CompilationState:
    assert model is not None, "a null model is not compiled"
    return CompilationState(model.state, bool(step.value % 2))


def _set_of_compilation(machine: ApiMachine, step: Step) -> None:
    found = machine.compilations.find(step.object)
    preference, priority = _PREFERENCES[step.value % 4], _PRIORITIES[step.value % 4]
    function, argument, is_legal, of_one = (
        ("compilation_set_preference", preference, preference != 3, False),
        ("compilation_set_priority", priority, priority != 0, False),
        ("compilation_set_timeout", 3600 * _SECOND_NS, True, True),
    )[step.second % 3]
    machine.call(
        function, on(found, lambda state: state.set(is_legal, of_one_device=of_one)), handle_of(found), argument
    )


def _finish_compilation(machine: ApiMachine, step: Step) -> None:
    found = machine.compilations.find(step.object)
    machine.call("compilation_finish", on(found, lambda state: state.finish()), handle_of(found))


def _is_finished(state: CompilationState) -> ResultCode:
    return ResultCode.NO_ERROR if state.finished else ResultCode.BAD_STATE


def _execute(machine: ApiMachine, step: Step) -> None:
    found = machine.compilations.find(step.object)

    def state() -> ExecutionState:
        assert found is not None, "a null compilation has no executions"
        found.used = True
        return ExecutionState(found.state, machine.app.level)

    machine.make(machine.executions, state, "execution_create", on(found, _is_finished), handle_of(found), True)


def _create_burst(machine: ApiMachine, step: Step) -> None:
    found = machine.compilations.find(step.object)

    def state() -> CompilationState:
        assert found is not None, "a null compilation has no bursts"
        found.used = True
        return found.state

    machine.make(machine.bursts, state, "burst_create", on(found, _is_finished), handle_of(found), True)


def _set_argument(machine: ApiMachine, step: Step) -> None:
    found = machine.executions.find(step.object)
    slot = step.second % 3
    index, in_range = (99, False) if step.value % 7 == 6 else (0 if slot == 2 else slot, True)
    typed, length = step.value % 2 == 1, (8, 8, 8, 4, 7)[step.value % 5]
    rule = on(found, lambda state: state.set_argument(slot, typed, length, in_range=in_range))
    function = "execution_set_output" if slot == 2 else "execution_set_input"
    machine.call(function, rule, handle_of(found), index, VECTOR if typed else None, machine.room, length)


def _set_from_memory(machine: ApiMachine, step: Step) -> None:
    """Shared memory as an input; of an argument that is refused otherwise its size is not looked at."""
    found, memory = machine.executions.find(step.object), machine.memories.find(step.second)
    if memory is not None and (memory.state.initialised is not None or memory.state.size < 8):
        return
    slot, typed = step.value % 2, step.value % 3 == 0
    rule = _both(found, memory, lambda: _state(found).set_argument(slot, typed, 8))
    described = VECTOR if typed else None
    answer = machine.call(
        "execution_set_input_from_memory", rule, handle_of(found), slot, described, handle_of(memory), 0, 8
    )
    if answer is not None and memory is not None:
        memory.used = True


def _state(found: Living[ExecutionState] | None) -> ExecutionState:
    assert found is not None, "judged before"
    return found.state


def _set_of_execution(machine: ApiMachine, step: Step) -> None:
    found = machine.executions.find(step.object)
    flag = step.value % 2 == 1
    function, argument, options = (
        ("execution_set_measure_timing", flag, {"of_one_device": True}),
        ("execution_set_timeout", 3600 * _SECOND_NS, {"of_one_device": True}),
        ("execution_set_loop_timeout", _SECOND_NS, {}),
        ("execution_set_reusable", flag, {}),
        ("execution_enable_input_and_output_padding", False, {"before_arguments": True}),
    )[step.second % 5]
    answer = machine.call(function, on(found, lambda state: state.set(**options)), handle_of(found), argument)
    if answer == ResultCode.NO_ERROR and found is not None:
        found.state.reusable = flag if function.endswith("reusable") else found.state.reusable
        found.state.measures = flag if function.endswith("timing") else found.state.measures


def _compute(machine: ApiMachine, step: Step) -> None:
    found = machine.executions.find(step.object)
    machine.call("execution_compute", on(found, lambda state: state.compute()), handle_of(found))


def _start(machine: ApiMachine, step: Step) -> None:
    """What it computes is over when its event was waited for."""
    found = machine.executions.find(step.object)
    with_event = step.value % 8 != 7

    def rule() -> Code:
        return ResultCode.UNEXPECTED_NULL if found is None or not with_event else found.state.compute()

    made = machine.make(
        machine.events, lambda: _state(found), "execution_start_compute", rule, handle_of(found), with_event
    )
    if made is not None and found is not None:
        found.state.phase, found.used = "started", True


def _wait(machine: ApiMachine, step: Step) -> None:
    event = machine.events.find(step.object)
    machine.call("event_wait", on(event, lambda state: state.result), handle_of(event))
    if event is not None:
        event.state.phase = "completed"


def _burst_compute(machine: ApiMachine, step: Step) -> None:
    found, burst = machine.executions.find(step.object), machine.bursts.find(step.second)

    def rule() -> Code:
        assert burst is not None, "judged before"
        is_other = burst.state is not _state(found).compilation
        return ResultCode.BAD_DATA if is_other else _state(found).compute()

    machine.call("execution_burst_compute", _both(found, burst, rule), handle_of(found), handle_of(burst))


def _query(machine: ApiMachine, step: Step) -> None:
    found = machine.executions.find(step.object)
    index, in_range = ((0, True), (0, True), (99, False))[step.value % 3]
    rule = on(found, lambda state: state.query(in_range=in_range))
    rank = machine.call("execution_get_output_operand_rank", rule, handle_of(found), index, True)
    sizes = machine.call("execution_get_output_operand_dimensions", rule, handle_of(found), index, True)
    if rank is not None and rank.result == ResultCode.NO_ERROR:
        checks.equal((rank.value, sizes.values), (1, (2,)), f"call {len(machine.calls)}: rank and dimensions")


def _duration(machine: ApiMachine, step: Step) -> None:
    found = machine.executions.find(step.object)
    code = (0, 1, 9)[step.value % 3]
    rule = on(found, lambda state: state.duration(is_code=code != 9))
    machine.call("execution_get_duration", rule, handle_of(found), code, True)


def _share(machine: ApiMachine, step: Step) -> None:
    size = _SIZES[step.value % len(_SIZES)]
    pool = machine.app.context.pool(64).memory
    code = ResultCode.NO_ERROR if size else ResultCode.BAD_DATA
    arguments = (size, pool.prot, pool, pool.offset, True)
    machine.make(machine.memories, lambda: MemoryState(size), "memory_create_from_fd", lambda: code, *arguments)


def _copy(machine: ApiMachine, step: Step) -> None:
    source, target = machine.memories.find(step.object), machine.memories.find(step.second)

    def rule() -> Code:
        assert source is not None, "judged before"
        assert target is not None, "judged before"
        return source.state.copy_to(target.state)

    machine.call("memory_copy", _both(source, target, rule), handle_of(source), handle_of(target))


def _describe(machine: ApiMachine, step: Step) -> None:
    machine.make(machine.descriptors, DescriptorState, "memory_desc_create", lambda: ResultCode.NO_ERROR, True)


def _add_role(machine: ApiMachine, step: Step) -> None:
    descriptor, compilation = machine.descriptors.find(step.object), machine.compilations.find(step.second)
    is_input, index = step.value % 3 != 0, (0, 0, 1, 99)[step.value % 4]
    frequency = _FREQUENCIES[step.value % 5 % 3]

    def rule() -> Code:
        assert descriptor is not None, "judged before"
        assert compilation is not None, "judged before"
        return descriptor.state.add_role(compilation.state, is_input, index, frequency)

    function = f"memory_desc_add_{'input' if is_input else 'output'}_role"
    arguments = (handle_of(descriptor), handle_of(compilation), index, frequency)
    answer = machine.call(function, _both(descriptor, compilation, rule), *arguments)
    if answer == ResultCode.NO_ERROR and compilation is not None:
        compilation.used = True


def _finish_descriptor(machine: ApiMachine, step: Step) -> None:
    found = machine.descriptors.find(step.object)
    machine.call("memory_desc_finish", on(found, lambda state: state.finish()), handle_of(found))


def _allocate(machine: ApiMachine, step: Step) -> None:
    found = machine.descriptors.find(step.object)
    rule = on(found, lambda state: state.allocate())

    def state() -> MemoryState:
        assert found is not None, "a null descriptor makes no memory"
        return MemoryState(4 if "scalar" in found.state.kinds else 8, initialised=False)

    machine.make(machine.memories, state, "memory_create_from_desc", rule, handle_of(found), True)


def _free(kind: Callable[[ApiMachine], Kind[Any]]) -> Run:
    return lambda machine, step: machine.free(kind(machine), step.object)


STEPS: Mapping[str, tuple[Run, int]] = {
    "create_model": (_create_model, 3),
    "add_operand": (_add_operand, 6),
    "set_value": (_set_value, 4),
    "add_operation": (_add_operation, 5),
    "identify": (_identify, 4),
    "finish_model": (_finish_model, 3),
    "relax": (_relax, 1),
    "compile": (_compile, 4),
    "set_of_compilation": (_set_of_compilation, 3),
    "finish_compilation": (_finish_compilation, 4),
    "execute": (_execute, 5),
    "create_burst": (_create_burst, 2),
    "set_argument": (_set_argument, 12),
    "set_from_memory": (_set_from_memory, 3),
    "set_of_execution": (_set_of_execution, 6),
    "compute": (_compute, 6),
    "start": (_start, 4),
    "wait": (_wait, 4),
    "burst_compute": (_burst_compute, 3),
    "query": (_query, 4),
    "duration": (_duration, 3),
    "share": (_share, 2),
    "copy": (_copy, 3),
    "describe": (_describe, 2),
    "add_role": (_add_role, 4),
    "finish_descriptor": (_finish_descriptor, 2),
    "allocate": (_allocate, 3),
    "free_execution": (_free(lambda machine: machine.executions), 1),
    "free_event": (_free(lambda machine: machine.events), 1),
    "free_burst": (_free(lambda machine: machine.bursts), 1),
    "free_memory": (_free(lambda machine: machine.memories), 1),
    "free_descriptor": (_free(lambda machine: machine.descriptors), 1),
    "free_compilation": (_free(lambda machine: machine.compilations), 1),
    "free_model": (_free(lambda machine: machine.models), 1),
}
"""Each call with how often it is drawn."""
