"""Whether a model or request can be handed to a driver at all: its numbers fit the types of the version's interface.

HIDL has uint32 where AIDL has int32 or int64 (the .hal and .aidl files of android.hardware.neuralnetworks). What does
not fit would reach a driver cut to something else, so that nothing follows from its answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operand,
    Operation,
    RequestArgument,
    Subgraph,
)
from npu_conformance.specs.versions import Version

_INT32 = range(-(1 << 31), 1 << 31)
_INT64 = range(-(1 << 63), 1 << 63)
_UINT32 = range(1 << 32)


def is_sendable(model: Model, version: Version) -> bool:
    """True where every number of a model fits."""
    graphs = (model.main, *model.referenced)
    return all(_fits(number, fitting) for graph in graphs for number, fitting in _graph(graph, version))


def are_sendable(arguments: Iterable[RequestArgument], version: Version) -> bool:
    """True where every number of the arguments of a request fits."""
    sizes = _sizes(version)
    return all(
        all(_fits(size, sizes) for size in argument.dimensions)
        and all(_fits(number, fitting) for number, fitting in _location(argument.location, version))
        for argument in arguments
    )


def _fits(number: int, fitting: range) -> bool:
    # Not `in`: for a number of an enumeration it would go through the range one by one.
    return fitting.start <= number < fitting.stop


def _graph(graph: Subgraph, version: Version) -> Iterator[tuple[int, range]]:
    for operand in graph.operands:
        yield from _operand(operand, version)
    for operation in graph.operations:
        yield from _operation(operation, version)
    for index in (*graph.input_indexes, *graph.output_indexes):
        yield index, _sizes(version)


def _operand(operand: Operand, version: Version) -> Iterator[tuple[int, range]]:
    for number in (operand.type, operand.zero_point, operand.lifetime):
        yield number, _INT32
    for size in operand.dimensions:
        yield size, _sizes(version)
    if not version.is_aidl:
        yield operand.number_of_consumers, _UINT32
    yield from _location(operand.location, version)


def _operation(operation: Operation, version: Version) -> Iterator[tuple[int, range]]:
    # From 1.2 on the high half of a code is the prefix of an extension: a negative code is read as one that has many.
    yield operation.type, range(1 << 31) if version >= Version.V1_2 else _INT32
    for index in (*operation.inputs, *operation.outputs):
        yield index, _sizes(version)


def _location(location: DataLocation, version: Version) -> Iterator[tuple[int, range]]:
    yield location.pool_index, _sizes(version)
    for number in (location.offset, location.length, location.padding):
        yield number, _INT64 if version.is_aidl else _UINT32


def _sizes(version: Version) -> range:
    return _INT32 if version.is_aidl else _UINT32
