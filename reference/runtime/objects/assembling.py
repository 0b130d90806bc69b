"""The wire model of a model of the API: its own graph and those that it refers to, with the values of constants."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from npu_conformance.reference.runtime.objects.draft import Draft, KeptPointer, PlacedValue
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    ExtensionNameAndPrefix,
    Memory,
    Model,
    Operand,
    Operation,
    Subgraph,
)

_ALIGNMENT = 4
"""Of constants in operand_values, in bytes."""


class Assembly:
    """Collects what the graphs of one wire model share."""

    def __init__(self) -> None:
        self.values = bytearray()
        self.pools: list[Memory] = []
        self.owners: list[object] = []
        self.referenced: list[Subgraph] = []
        self.extensions: dict[int, ExtensionNameAndPrefix] = {}
        self._pool_numbers: dict[int, int] = {}
        self._graph_numbers: dict[int, int] = {}

    def located(self, operand: Operand, value: bytes | PlacedValue | Draft) -> Operand:
        """The operand with the place of its value."""
        if isinstance(value, bytes):
            return replace(operand, location=DataLocation(0, self._copied(value), len(value)))
        if isinstance(value, PlacedValue):
            self.owners.append(value.owner)
            location = DataLocation(self._pool(value.memory), value.offset, value.length)
            return replace(operand, location=location)
        return replace(operand, location=DataLocation(0, self._graph(value), 0))

    def _copied(self, value: bytes) -> int:
        offset = len(self.values)
        self.values += value + bytes(-len(value) % _ALIGNMENT)
        return offset

    def _pool(self, memory: Memory) -> int:
        if memory.token not in self._pool_numbers:
            self._pool_numbers[memory.token] = len(self.pools)
            self.pools.append(memory)
        return self._pool_numbers[memory.token]

    def _graph(self, model: Draft) -> int:
        """The number of another model's graph; the graphs that it refers to come along."""
        if id(model) not in self._graph_numbers:
            self._graph_numbers[id(model)] = len(self.referenced)
            self._take_over(model)
        return self._graph_numbers[id(model)]

    def _take_over(self, model: Draft) -> None:
        finished = model.check_finished()
        other = finished.wire
        first_value, first_graph = len(self.values), len(self.referenced)
        pools = [self._pool(pool) for pool in other.pools]
        self.values += other.operand_values
        self.owners += finished.keeps
        self.extensions.update((mapping.prefix, mapping) for mapping in other.extension_name_to_prefix)
        moved = [_moved(graph, first_value, pools, first_graph + 1) for graph in (other.main, *other.referenced)]
        self.referenced += moved


def _moved(graph: Subgraph, first_value: int, pools: Sequence[int], first_graph: int) -> Subgraph:
    """A graph of one wire model as it is in another."""

    def located(operand: Operand) -> Operand:
        place = operand.location
        match operand.lifetime:
            case OperandLifeTime.CONSTANT_COPY:
                return replace(operand, location=replace(place, offset=place.offset + first_value))
            case OperandLifeTime.CONSTANT_POOL:
                return replace(operand, location=replace(place, pool_index=pools[place.pool_index]))
            case OperandLifeTime.SUBGRAPH:
                return replace(operand, location=replace(place, offset=place.offset + first_graph))
        return operand

    return replace(graph, operands=tuple(map(located, graph.operands)))


def wire_model(model: Draft, operations: Sequence[Operation]) -> tuple[Model, tuple[object, ...]]:
    """The wire model with these of its operations, and what keeps the memory of its pools alive.

    Values that are read at finish have no place before.
    """
    assembly = Assembly()
    operands = list(model.operands)
    for index, value in model.values.items():
        if not isinstance(value, KeptPointer):
            operands[index] = assembly.located(operands[index], value)
    main = Subgraph(tuple(operands), tuple(operations), model.inputs, model.outputs)
    for mapping in model.environment.extensions.used(model.codes()):
        assembly.extensions[mapping.prefix] = mapping
    wire = Model(
        main,
        tuple(assembly.referenced),
        bytes(assembly.values),
        tuple(assembly.pools),
        model.is_relaxed,  # FW-MDL-026: the flags of the graphs that it refers to do not count.
        tuple(assembly.extensions[prefix] for prefix in sorted(assembly.extensions)),
    )
    return wire, tuple(assembly.owners)
