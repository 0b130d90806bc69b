"""What ANeuralNetworksModel_finish does (FW-MDL-023, -024, -030)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from npu_conformance.reference.runtime.app_memory import OwnedPool, bytes_behind
from npu_conformance.reference.runtime.backend import FinishedModel
from npu_conformance.reference.runtime.objects.assembling import wire_model
from npu_conformance.reference.runtime.objects.draft import Draft, PlacedValue
from npu_conformance.reference.runtime.objects.operands import bad_data
from npu_conformance.specs.neuralnetworks.minimal_version import without_trailing_defaults
from npu_conformance.specs.neuralnetworks.types import Model, Operation, Subgraph
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.neuralnetworks.violations import Violation, is_about_vendor
from npu_conformance.specs.versions import Version

_ALIGNMENT = 64
"""Of large constants in their pool, in bytes: what drivers prefer."""

_OF_DRIVERS = ("MODEL.M3", "MODEL.P8")
"""Rules for drivers alone: kinds of memory in a version of the HAL, known sizes at the border of WHILE."""


def finish(model: Draft) -> FinishedModel:
    """Make what devices get of a model. Raises RuntimeFailure where it is not valid."""
    if not model.operations or not model.outputs:
        raise bad_data("the model has no operation or no output")
    _copy_large_values(model)
    order = run_order(model.operations)
    wire, keeps = wire_model(model, [model.operations[index] for index in order])
    wire = without_trailing_defaults(wire)
    wire = replace(wire, main=with_consumers(wire.main))
    problem = first_problem(wire, model.environment.level)
    if problem is not None:
        raise bad_data(str(problem))
    return FinishedModel(wire, order, keeps)


def _copy_large_values(model: Draft) -> None:
    """Read the values whose pointers were kept, into one pool."""
    kept = model.kept_pointers()
    if not kept:
        return
    offsets, size = [], 0
    for _, _, length in kept:
        offsets.append(size)
        size += -(-length // _ALIGNMENT) * _ALIGNMENT
    pools = model.environment.pools
    pool = OwnedPool(pools, size)
    view = pools.map(pool.memory)
    for (index, pointer, length), offset in zip(kept, offsets, strict=True):
        view[offset : offset + length] = bytes_behind(pools, pointer, length)
        model.values[index] = PlacedValue(pool.memory, offset, length, pool)


def run_order(operations: Sequence[Operation]) -> tuple[int, ...]:
    """The operations in an order in which each reads only what was written before; as they are where that will do.

    Raises BAD_DATA for a circle.
    """
    writers = {index: number for number, operation in enumerate(operations) for index in operation.outputs}
    missing = [{writers[index] for index in operation.inputs if index in writers} for operation in operations]
    if all(max(sources, default=-1) < number for number, sources in enumerate(missing)):
        return tuple(range(len(operations)))
    readers: list[list[int]] = [[] for _ in operations]
    for number, sources in enumerate(missing):
        for source in sources:
            readers[source].append(number)
    ready = [number for number, sources in enumerate(missing) if not sources]
    for number in ready:  # The list grows meanwhile.
        for reader in readers[number]:
            missing[reader].discard(number)
            if not missing[reader]:
                ready.append(reader)
    if len(ready) != len(operations):
        raise bad_data("operations read each other's results in a circle")
    return tuple(ready)


def with_consumers(graph: Subgraph) -> Subgraph:
    """The graph with the number of times that each operand is read, which HIDL wants to know."""
    counts = [0] * len(graph.operands)
    for operation in graph.operations:
        for index in operation.inputs:
            counts[index] += 1
    counted = [
        replace(operand, number_of_consumers=count) if count else operand
        for operand, count in zip(graph.operands, counts, strict=True)
    ]
    return replace(graph, operands=tuple(counted))


def first_problem(wire: Model, level: Version) -> Violation | None:
    """The first rule that a model breaks at a feature level; what is a vendor's own is left to its driver."""
    for violation in validate_model(wire, level):
        if violation.clause not in _OF_DRIVERS and not is_about_vendor(violation, wire):
            return violation
    return None
