"""Calls whose indexes, types, lengths and offsets are given, where those of random sequences pick them from tables.

Where the API leaves open what such a call returns, and where a legal call would make what the model of the API does not
know, it is not made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from npu_conformance.harness.judge.api_executions import OUTPUT
from npu_conformance.harness.judge.api_model import Code
from npu_conformance.harness.nnapi.machine import ApiMachine, Step, handle_of, on, on_all
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription

COUNT = 1000
"""A number near this one counts from how many there are: COUNT is the first that none has, COUNT - 1 the last one."""
_NEAR = 100
_LONGEST = 256
"""Bytes of a constant, at most."""
_LONGEST_ARGUMENT = 64
_OUTPUTS = 1


class Given(Step, frozen=True):
    """A call with its arguments. code: of an operation or operand, or odd for an output. inputs: also dimensions."""

    code: int = 0
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    offset: int = 0
    length: int = 0


class Indexes(NamedTuple):
    """The lists of a call, as the C API counts them."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def add_operand(machine: ApiMachine, given: Given) -> None:
    """model_add_operand."""
    model, code = machine.models.find(given.object), _signed(given.code)
    dimensions = tuple(one % 2**32 for one in given.inputs)
    described = OperandDescription(code, len(dimensions), dimensions or None)
    rule = on(model, lambda state: state.add_any_operand(code, dimensions))
    machine.call("model_add_operand", rule, handle_of(model), described)


def add_operation(machine: ApiMachine, given: Given) -> None:
    """model_add_operation."""
    model, code, lists = machine.models.find(given.object), _signed(given.code), _lists(machine, given)
    rule = on(model, lambda state: state.add_any_operation(code, *lists))
    machine.call("model_add_operation", rule, handle_of(model), code, *lists)


def identify(machine: ApiMachine, given: Given) -> None:
    """model_identify_inputs_and_outputs."""
    model, lists = machine.models.find(given.object), _lists(machine, given)
    rule = on(model, lambda state: state.identify_any(*lists))
    machine.call("model_identify_inputs_and_outputs", rule, handle_of(model), *lists)


def set_value(machine: ApiMachine, given: Given) -> None:
    """model_set_operand_value: zeros."""
    model, value = machine.models.find(given.object), bytes(given.length % (_LONGEST + 1))
    index = _signed(_counted(given.offset, _operands(machine, given)))
    rule = on(model, lambda state: state.set_value(index, value))
    machine.call("model_set_operand_value", rule, handle_of(model), index, machine.value(value), len(value))


def set_value_from_memory(machine: ApiMachine, given: Given) -> None:
    """model_set_operand_value_from_memory, where it is illegal. The first of `inputs` is the index."""
    model, memory = machine.models.find(given.object), machine.memories.find(given.second)
    index = _signed(_counted(next(iter(given.inputs), 0), _operands(machine, given)))
    offset, length = _part(given, 0 if memory is None or memory.is_lost else memory.state.size)

    def rule() -> Code:
        assert model is not None, "judged before"
        assert memory is not None, "judged before"
        if memory.state.initialised is not None:
            return None
        return model.state.refused_from_memory(index, memory.state.size, offset, length)

    arguments = (handle_of(model), index, handle_of(memory), offset, length)
    machine.call("model_set_operand_value_from_memory", on_all((model, memory), rule), *arguments)


def set_argument(machine: ApiMachine, given: Given) -> None:
    """execution_set_input and execution_set_output, behind pointers. The first of `inputs` is the index."""
    found, is_output = machine.executions.find(given.object), given.code % 2 == 1
    count = _OUTPUTS if is_output else OUTPUT
    index, length = _signed(_counted(next(iter(given.inputs), 0), count)), given.length % (_LONGEST_ARGUMENT + 1)
    slot, in_range, data = OUTPUT if is_output else index % OUTPUT, 0 <= index < count, bytes(8)
    pointer = machine.value(data)
    if is_output:
        pointer = machine.room if found is None or found.is_lost else found.place
    rule = on(found, lambda state: state.set_argument(slot, "", length, in_range=in_range, data=data))
    function = f"execution_set_{'output' if is_output else 'input'}"
    machine.call(function, rule, handle_of(found), index, None, pointer, length)


def set_from_memory(machine: ApiMachine, given: Given) -> None:
    """execution_set_input_from_memory and execution_set_output_from_memory. The first of `inputs` is the slot."""
    found, memory = machine.executions.find(given.object), machine.memories.find(given.second)
    slot = next(iter(given.inputs), 0) % (OUTPUT + 1)
    offset, length = _part(given, 0 if memory is None or memory.is_lost else memory.state.size)

    def rule() -> Code:
        assert found is not None, "judged before"
        assert memory is not None, "judged before"
        return found.state.set_memory(slot, "", memory.state, offset, length)

    function = f"execution_set_{'output' if slot == OUTPUT else 'input'}_from_memory"
    arguments = (handle_of(found), slot % OUTPUT, None, handle_of(memory), offset, length)
    answer = machine.call(function, on_all((found, memory), rule), *arguments)
    if answer is not None and found is not None:
        found.use(memory)


GIVEN: Mapping[str, Callable[[ApiMachine, Given], None]] = {
    "add_operand": add_operand,
    "add_operation": add_operation,
    "identify": identify,
    "set_value": set_value,
    "set_value_from_memory": set_value_from_memory,
    "set_argument": set_argument,
    "set_from_memory": set_from_memory,
}
"""The calls whose arguments can be given."""


def _operands(machine: ApiMachine, given: Given) -> int:
    model = machine.models.find(given.object)
    return 0 if model is None or model.is_lost else len(model.state.operands)


def _lists(machine: ApiMachine, given: Given) -> Indexes:
    count = _operands(machine, given)
    return Indexes(*(tuple(_counted(one, count) % 2**32 for one in each) for each in (given.inputs, given.outputs)))


def _counted(number: int, count: int) -> int:
    """The number that is meant where so many are there."""
    return count + number - COUNT if abs(number - COUNT) < _NEAR else number


def _part(given: Given, size: int) -> tuple[int, int]:
    return _counted(given.offset, size) % 2**64, _counted(given.length, size) % 2**64


def _signed(number: int) -> int:
    """As an int32."""
    return (number + 2**31) % 2**32 - 2**31
