"""The calls on executions, bursts and events that random sequences are made of."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from npu_conformance.harness.judge.api_executions import COMPUTED, OUTPUT, ExecutionState
from npu_conformance.harness.judge.api_model import (
    Code,
    CompilationState,
    Required,
    any_of,
    bad_data,
    null,
)
from npu_conformance.harness.nnapi.app import VECTOR
from npu_conformance.harness.nnapi.machine import ApiMachine, Living, Step, handle_of, on, on_all
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import UNAVAILABLE_DURATION, ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL, OperandDescription, Pointer
from npu_conformance.specs.versions import Version

_TYPES = {
    "": None,
    "right": VECTOR,
    "size": OperandDescription(OperandType.TENSOR_FLOAT32, 1, (3,)),
    "rank": OperandDescription(OperandType.TENSOR_FLOAT32, 2, (1, 2)),
}
_TYPED = ("", "right", "", "right", "", "right", "", "size", "", "right", "", "rank")
_LENGTHS = (8, 8, 8, 4, 7, 8, 8, 16)
_INPUTS = tuple(struct.pack("<2f", *pair) for pair in ((1, 2), (10, -20), (-3, 0), (0, 5)))
_SECOND_NS = 1_000_000_000
_ROOM = 64
_FILL = b"\x5a" * _ROOM
_FAR = 2**64 - 4
"""An offset behind which a length wraps around."""
_PARTS = ((0, 8), (0, 8), (0, 8), (8, 8), (0, 0), (64, 8), (_FAR, 8), (0, 0))


class Start(NamedTuple):
    """Which start of its execution an event is of, counted from 1, and whether with dependencies."""

    number: int
    is_fenced: bool


def execute(machine: ApiMachine, step: Step) -> None:
    """execution_create."""
    found = machine.compilations.find(step.object)

    def state() -> ExecutionState:
        assert found is not None, "a null compilation has no executions"
        outcome = machine.failure if machine.failure is not None and found.state.is_explicit else COMPUTED
        return ExecutionState(found.state, machine.app.level, outcome=outcome)

    rule = on(found, CompilationState.use)
    made = machine.make(machine.executions, state, "execution_create", rule, handle_of(found), True, uses=(found,))
    if made is not None:
        made.place = machine.app.memory.room(_ROOM)


def create_burst(machine: ApiMachine, step: Step) -> None:
    """burst_create."""
    found = machine.compilations.find(step.object)

    def state() -> CompilationState:
        assert found is not None, "a null compilation has no bursts"
        return found.state

    rule = on(found, CompilationState.use)
    machine.make(machine.bursts, state, "burst_create", rule, handle_of(found), True, uses=(found,))


def _function(slot: int, suffix: str = "") -> str:
    return f"execution_set_{'output' if slot == OUTPUT else 'input'}{suffix}"


def set_argument(machine: ApiMachine, step: Step) -> None:
    """execution_set_input and execution_set_output, behind pointers."""
    found = machine.executions.find(step.object)
    slot = step.second % 3
    index, in_range = (99, False) if step.value % 7 == 6 else (slot % OUTPUT, True)
    type_, length = _TYPED[step.value % len(_TYPED)], _LENGTHS[step.value // 2 % len(_LENGTHS)]
    data = _INPUTS[step.value // 16 % len(_INPUTS)]
    pointer: Pointer | None = machine.value(data)
    if slot == OUTPUT:
        pointer = machine.room if found is None or found.is_lost else found.place

    def rule(state: ExecutionState) -> Code:
        return state.set_argument(slot, type_, length, in_range=in_range, data=data)

    arguments: tuple[Any, ...] = (handle_of(found), index, _TYPES[type_])
    if step.value % 23 == 22:
        if found is not None and not found.is_lost:
            machine.call(_function(slot), lambda: null(), *arguments, None, length)
        return
    machine.call(_function(slot), on(found, rule), *arguments, pointer, length)


def set_from_memory(machine: ApiMachine, step: Step) -> None:
    """execution_set_input_from_memory and execution_set_output_from_memory."""
    found, memory = machine.executions.find(step.object), machine.memories.find(step.second)
    slot, type_ = step.value % 3, _TYPED[step.value // 3 % len(_TYPED)]
    offset, length = _PARTS[step.value // 36 % len(_PARTS)]
    is_described = memory is not None and not memory.is_lost and memory.state.initialised is not None
    if is_described and step.value % 5:
        offset, length = 0, 0
    elif step.value % 2 and not is_described:
        offset, length = 0, 8

    def rule() -> Code:
        assert found is not None, "judged before"
        assert memory is not None, "judged before"
        return found.state.set_memory(slot, type_, memory.state, offset, length)

    arguments = (handle_of(found), slot % OUTPUT, _TYPES[type_], handle_of(memory), offset, length)
    answer = machine.call(_function(slot, "_from_memory"), on_all((found, memory), rule), *arguments)
    if answer is not None and found is not None:
        found.use(memory)


def set_of_execution(machine: ApiMachine, step: Step) -> None:
    """The setters of executions but those of arguments."""
    found = machine.executions.find(step.object)
    flag = step.value % 2 == 1
    function, argument, options = (
        ("execution_set_measure_timing", flag, {"of_one_device": True}),
        ("execution_set_timeout", 3600 * _SECOND_NS * (step.value % 4 > 0), {"of_one_device": True}),
        ("execution_set_loop_timeout", (_SECOND_NS, 10**12, 0)[step.value % 3], {}),
        ("execution_set_reusable", flag, {}),
        ("execution_enable_input_and_output_padding", flag, {"before_arguments": True}),
    )[step.second % 5]
    answer = machine.call(function, on(found, lambda state: state.set(**options)), handle_of(found), argument)
    if answer == ResultCode.NO_ERROR and found is not None:
        state = found.state
        state.said[function.removeprefix("execution_set_")] = argument
        state.reusable = flag if function.endswith("reusable") else state.reusable
        state.measures = flag if function.endswith("timing") else state.measures
        state.padded = flag if function.endswith("padding") else state.padded


def compute(machine: ApiMachine, step: Step) -> None:
    """execution_compute."""
    found = machine.executions.find(step.object)
    _clear(machine, found)
    answer = machine.call("execution_compute", on(found, lambda state: state.compute()), handle_of(found))
    _expect(machine, found, answer)
    _look(machine, found, answer)


def _clear(machine: ApiMachine, found: Living[ExecutionState] | None) -> None:
    """Put into the output what no execution leaves there, unless one is under way."""
    if found is not None and not found.is_lost and found.state.phase != "started":
        machine.app.memory.write(found.place, _FILL)


def _expect(machine: ApiMachine, found: Living[ExecutionState] | None, answer: int | None) -> None:
    """The driver is asked for an execution that has begun, with what the app has said of it."""
    if machine.watched is not None and found is not None and not found.is_lost and answer == ResultCode.NO_ERROR:
        machine.watched.expect_execution(found.state.said)


def _judge_told(machine: ApiMachine) -> None:
    """See what the driver was told of executions, once none is under way."""
    is_over = all(one.state.phase != "started" for one in machine.executions.living)
    if machine.watched is not None and is_over:
        machine.watched.judge_executions()


def _look(machine: ApiMachine, found: Living[ExecutionState] | None, answer: int | None) -> None:
    """See that the output is right, and that nothing is written behind it."""
    if found is None or found.is_lost or answer != ResultCode.NO_ERROR:
        return
    _judge_told(machine)
    state = found.state
    output = state.arguments[OUTPUT]
    if output.memory is None:
        written = machine.app.memory.read(found.place, _ROOM)
        machine.right(written[8:], "bytes behind the output", _FILL[8:], "FW-EXE-007")
    else:
        pool = next(used.place for used in found.uses if used.state is output.memory)
        written = b"" if pool is None else pool.read(output.offset, 8)
    if written and state.written is not None:
        machine.right(_floats(written), "output", _floats(state.written), "FW-EXE-013")


def _floats(data: bytes) -> tuple[Any, ...]:
    return struct.unpack("<2f", data[:8])


def start(machine: ApiMachine, step: Step) -> None:
    """execution_start_compute. What it computes is over when its event was waited for."""
    found = machine.executions.find(step.object)
    with_event = step.value % 8 != 7
    if not with_event and found is not None and found.is_lost:
        return
    _clear(machine, found)
    rule = on(found, lambda state: state.compute(is_waited=False) if with_event else null())
    _started(machine, found, "execution_start_compute", rule, handle_of(found), with_event, fenced=False)


def start_behind(machine: ApiMachine, step: Step) -> None:
    """execution_start_compute_with_dependencies, behind an event or none."""
    found, event = machine.executions.find(step.object), machine.events.find(step.second)
    kind = step.value % 8
    if (event is not None and event.is_lost) or (kind > 6 and (found is None or found.is_lost)):
        return
    events = (NULL,) if kind == 7 else () if event is None or kind > 3 else (event.handle,)
    if found is not None and not found.is_lost and found.state.kind(OUTPUT) == "unknown":
        return  # FW-EXE-022: cases of their own ask what is open there
    _clear(machine, found)
    rule = on(found, lambda state: _behind_null(state) if kind == 7 else state.compute(is_waited=False))
    arguments = (handle_of(found), events or None, len(events), 0, True)
    function = "execution_start_compute_with_dependencies"
    _started(machine, found, function, rule, *arguments, fenced=True, uses=(event,) if events else ())


def _behind_null(state: ExecutionState) -> Code:
    return null() if state.phase == "prepared" else None


def _started(
    machine: ApiMachine, found: Living[ExecutionState] | None, function: str, rule: Any, *arguments: Any, fenced: bool,
    uses: tuple[Living[Any] | None, ...] = (),
) -> None:  # fmt: skip
    def state() -> ExecutionState:
        assert found is not None, "a null execution is not started"
        return found.state

    made = machine.make(machine.events, state, function, rule, *arguments, uses=(found, *uses))
    if made is not None:
        made.state.begin(fenced=fenced)
        made.place = Start(made.state.starts, fenced)
        _expect(machine, found, made.state.result.code)


def wait(machine: ApiMachine, step: Step) -> None:
    """event_wait."""
    event = machine.events.find(step.object)
    answer = machine.call("event_wait", on(event, _outcome), handle_of(event))
    if event is None or answer is None or event.is_lost:
        return
    if event.state.phase == "started" and event.place.number == event.state.starts:  # not the event of an earlier start
        event.state.end()
        _look(machine, next(one for one in event.uses if one.state is event.state), answer)


def _outcome(state: ExecutionState) -> Code:
    """Of an event whose execution was computed again, or was never over, it is open."""
    return state.result if state.result.code == ResultCode.NO_ERROR else None


def ask_fence(machine: ApiMachine, step: Step) -> None:
    """event_get_sync_fence_fd. Whether an execution with dependencies has a fence is open."""
    event = machine.events.find(step.object)
    missing: Code = bad_data("FW-EXE-024")
    if machine.app.level < Version.FL5:  # the header says BAD_DATA, AOSP's runtime of that level OP_FAILED
        missing = any_of(missing, Required(ResultCode.OP_FAILED))
    rule = on(event, lambda _: None if event is None or event.is_lost or event.place.is_fenced else missing)
    machine.call("event_get_sync_fence_fd", rule, handle_of(event), True)


def burst_compute(machine: ApiMachine, step: Step) -> None:
    """execution_burst_compute."""
    found, burst = machine.executions.find(step.object), machine.bursts.find(step.second)

    def rule() -> Code:
        assert found is not None, "judged before"
        assert burst is not None, "judged before"
        is_other = burst.state is not found.state.compilation
        return found.state.refuse_burst() if is_other else found.state.compute()

    _clear(machine, found)
    answer = machine.call("execution_burst_compute", on_all((found, burst), rule), handle_of(found), handle_of(burst))
    _expect(machine, found, answer)
    if answer == ResultCode.NO_ERROR and machine.watched is not None and burst is not None:
        burst.place = {} if burst.place is None else burst.place
        machine.watched.judge_names(burst.place)
    _look(machine, found, answer)


def query(machine: ApiMachine, step: Step) -> None:
    """Rank and dimensions of an output."""
    found = machine.executions.find(step.object)
    index, in_range = ((0, True), (0, True), (99, False))[step.value % 3]
    rule = on(found, lambda state: state.query(in_range=in_range))
    rank = machine.call("execution_get_output_operand_rank", rule, handle_of(found), index, True)
    if rank is not None and rank.result == ResultCode.NO_ERROR:
        machine.right(rank.value, "rank of the output", 1, "FW-EXE-017")
    sizes = machine.call("execution_get_output_operand_dimensions", rule, handle_of(found), index, True)
    if sizes is not None and sizes.result == ResultCode.NO_ERROR:
        machine.right(sizes.values, "dimensions of the output", (2,), "FW-EXE-017")


def duration(machine: ApiMachine, step: Step) -> None:
    """execution_get_duration."""
    found = machine.executions.find(step.object)
    code = (0, 1, 9)[step.value % 3]
    rule = on(found, lambda state: state.duration(is_code=code != 9))
    answer = machine.call("execution_get_duration", rule, handle_of(found), code, True)
    if machine.watched is not None and answer is not None and answer.result == ResultCode.NO_ERROR:
        told = machine.watched.durations[code]
        expected = UNAVAILABLE_DURATION if answer.value == UNAVAILABLE_DURATION else told  # a runtime need not know
        machine.right(answer.value, "duration", expected, "FW-EXE-020")
