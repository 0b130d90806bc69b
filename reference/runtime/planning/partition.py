"""Which device computes which operation, and in which steps (FW-PRT)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Protocol

import msgspec

from npu_conformance.reference.runtime.backend import RuntimeDevice, RuntimeFailure
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference, OperandLifeTime, OperationType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.performance import cost_of_operation
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.types import Capabilities, Model, Operand, Operation, Subgraph

CONTROL_FLOW = (OperationType.IF, OperationType.WHILE)


class Candidate(RuntimeDevice, Protocol):
    """A device that can be chosen. capabilities: the performance that it states, in its version's form."""

    capabilities: Capabilities


class DeviceStep(msgspec.Struct, frozen=True):
    """Operations that one device computes together. device: index; that after the last is the interpreter's."""

    device: int
    operations: tuple[int, ...]


def best_devices(model: Model, devices: Sequence[Candidate], preference: int) -> list[int]:
    """For each operation of the main graph the device that computes it at the lowest cost (FW-PRT-001 to -004).

    An IF or WHILE whose best device is the CPU is the interpreter's, number len(devices), where there is more than one
    device and all sizes on its boundary are known. Raises RuntimeFailure(BAD_DATA) for an operation that nobody
    supports (FW-PRT-008).
    """
    supported = [device.supported_operations(model) for device in devices]
    power = preference == ExecutionPreference.LOW_POWER
    chosen = []
    for index, operation in enumerate(model.main.operations):
        able = [number for number, answers in enumerate(supported) if answers[index]]
        if not able:
            raise RuntimeFailure(ResultCode.BAD_DATA, f"no device supports operation {index}, of type {operation.type}")
        chosen.append(_best(model, operation, devices, able, power))
    return [_or_interpreter(model, index, devices, number) for index, number in enumerate(chosen)]


def _best(model: Model, operation: Operation, devices: Sequence[Candidate], able: Sequence[int], power: bool) -> int:
    """The device with the lowest cost; of equal ones the CPU, then the first (FW-PRT-003)."""
    if len(able) == 1:
        return able[0]

    def rank(number: int) -> tuple[float, bool, int]:
        device = devices[number]
        cost = cost_of_operation(device.capabilities, model, model.main, operation, power)
        return cost, not device.is_cpu, number

    return min(able, key=rank)


def _or_interpreter(model: Model, index: int, devices: Sequence[Candidate], number: int) -> int:
    operation = model.main.operations[index]
    is_whole = operation.type not in CONTROL_FLOW or len(devices) == 1 or not devices[number].is_cpu
    return number if is_whole or has_unknown_boundary(model, operation) else len(devices)


def has_unknown_boundary(model: Model, operation: Operation) -> bool:
    """True where an IF or WHILE, or a graph that it refers to, takes or gives a value of unknown size."""
    operands = model.main.operands
    boundary = [operands[index] for index in (*operation.inputs, *operation.outputs)]
    for graph in referenced_graphs(model, operation):
        boundary += [graph.operands[index] for index in (*graph.input_indexes, *graph.output_indexes)]
    return any(has_unknown_size(operand) for operand in boundary if operand.lifetime != OperandLifeTime.NO_VALUE)


def referenced_graphs(model: Model, operation: Operation) -> list[Subgraph]:
    """The graphs that an IF or WHILE of the main graph refers to, in the order of its inputs."""
    operands = [model.main.operands[index] for index in operation.inputs]
    return [
        model.referenced[operand.location.offset]
        for operand in operands
        if operand.lifetime == OperandLifeTime.SUBGRAPH
    ]


def has_unknown_size(operand: Operand) -> bool:
    """True for a tensor of unknown rank, or with an unknown dimension."""
    info = OPERAND_TYPES.get(operand.type)
    is_tensor = info is None or info.is_tensor
    return is_tensor and (not operand.dimensions or 0 in operand.dimensions)


def steps_of(graph: Subgraph, chosen: Sequence[int], interpreter: int) -> list[DeviceStep]:
    """The steps in their order: a step takes all that is ready on one device, again and again, until nothing is.

    The next device is that of the highest index with ready operations. The interpreter's steps are one operation each.
    """
    ready = _Ready(graph, chosen)
    steps: list[DeviceStep] = []
    while (device := ready.next_device()) is not None:
        taken: list[int] = []
        while (operation := ready.take(device)) is not None:
            taken.append(operation)
            if device == interpreter:
                break
        steps.append(DeviceStep(device, tuple(taken)))
    return steps


class _Ready:
    """Operations whose inputs are all known, in a queue for each device."""

    def __init__(self, graph: Subgraph, chosen: Sequence[int]) -> None:
        self._graph, self._chosen = graph, chosen
        writers = {index: number for number, one in enumerate(graph.operations) for index in one.outputs}
        self._readers: dict[int, list[int]] = {}
        self._missing: list[int] = []
        for number, operation in enumerate(graph.operations):
            before = {writers[index] for index in operation.inputs if index in writers}
            self._missing.append(len(before))
            for one in before:
                self._readers.setdefault(one, []).append(number)
        self._queues: dict[int, deque[int]] = {device: deque() for device in chosen}
        for number, missing in enumerate(self._missing):
            if not missing:
                self._queues[chosen[number]].append(number)

    def next_device(self) -> int | None:
        return max((device for device, queue in self._queues.items() if queue), default=None)

    def take(self, device: int) -> int | None:
        """Take an operation of a device, upon which others become ready."""
        queue = self._queues[device]
        if not queue:
            return None
        operation = queue.popleft()
        for reader in self._readers.get(operation, ()):
            self._missing[reader] -= 1
            if not self._missing[reader]:
                self._queues[self._chosen[reader]].append(reader)
        return operation
