"""The calls on memories and their descriptors that random sequences are made of."""

from __future__ import annotations

import struct

from npu_conformance.harness.judge.api_executions import MemoryState
from npu_conformance.harness.judge.api_model import Code, DescriptorState, bad_data
from npu_conformance.harness.nnapi.machine import ApiMachine, Step, always, handle_of, on, on_all
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode

_FREQUENCIES = (1.0, 0.5, 0.0)
_POOL = 64
_SIZES = (8, 8, 64, 0)
_CONTENT = struct.pack("<4f", 6, 7, -8, 9)


def share(machine: ApiMachine, step: Step) -> None:
    """memory_create_from_fd."""
    size = _SIZES[step.value % len(_SIZES)]
    pool = machine.app.pool(_POOL)
    content = _CONTENT.ljust(_POOL, b"\0") if step.value % 8 < 4 else bytes(_POOL)
    pool.write(0, content)
    arguments = (size, pool.memory.prot, pool.memory, pool.memory.offset, True)
    rule = always(bad_data("FW-MEM-010")) if not size else always()
    state = MemoryState(size, content=content[:size])
    made = machine.make(machine.memories, lambda: state, "memory_create_from_fd", rule, *arguments)
    if made is not None:
        made.place = pool


def copy(machine: ApiMachine, step: Step) -> None:
    """memory_copy. What is copied to shared memory can be seen."""
    source, target = machine.memories.find(step.object), machine.memories.find(step.second)

    def rule() -> Code:
        assert source is not None, "judged before"
        assert target is not None, "judged before"
        return source.state.copy_to(target.state)

    answer = machine.call("memory_copy", on_all((source, target), rule), handle_of(source), handle_of(target))
    if answer != ResultCode.NO_ERROR or target is None or target.place is None or target.state.content is None:
        return
    found = target.place.read(0, target.state.size)
    machine.right(found, "memory_copy: bytes of the target", target.state.content, "FW-MEM-006")


def describe(machine: ApiMachine, step: Step) -> None:
    """memory_desc_create."""
    machine.make(machine.descriptors, DescriptorState, "memory_desc_create", always(), True)


def add_role(machine: ApiMachine, step: Step) -> None:
    """memory_desc_add_input_role and memory_desc_add_output_role."""
    descriptor, compilation = machine.descriptors.find(step.object), machine.compilations.find(step.second)
    is_input, index = step.value % 3 != 0, (0, 0, 1, 99)[step.value % 4]
    frequency = _FREQUENCIES[step.value % 5 % 3]

    def rule() -> Code:
        assert descriptor is not None, "judged before"
        assert compilation is not None, "judged before"
        return descriptor.state.add_role(compilation.state, is_input, index, frequency)

    function = f"memory_desc_add_{'input' if is_input else 'output'}_role"
    arguments = (handle_of(descriptor), handle_of(compilation), index, frequency)
    answer = machine.call(function, on_all((descriptor, compilation), rule), *arguments)
    if answer == ResultCode.NO_ERROR and descriptor is not None:
        descriptor.use(compilation)


def finish_descriptor(machine: ApiMachine, step: Step) -> None:
    """memory_desc_finish."""
    found = machine.descriptors.find(step.object)
    machine.call("memory_desc_finish", on(found, lambda state: state.finish()), handle_of(found))


def allocate(machine: ApiMachine, step: Step) -> None:
    """memory_create_from_desc. The compilations of its roles are freed behind it."""
    found = machine.descriptors.find(step.object)
    rule = on(found, lambda state: state.allocate())

    def state() -> MemoryState:
        assert found is not None, "a null descriptor makes no memory"
        size = 4 if "scalar" in found.state.kinds else 8
        return MemoryState(size, initialised=False, roles=tuple(found.state.roles))

    uses = () if found is None else tuple(found.uses)
    machine.make(machine.memories, state, "memory_create_from_desc", rule, handle_of(found), True, uses=uses)
