"""What of HAL's models and requests an app cannot say to a runtime, which derives it or passes it on its own way.

Whatever can be said is said, however wrong it is, and the runtime's answer counts. The rest raises NotVisible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from npu_conformance.specs.errors import NotVisible
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime
from npu_conformance.specs.neuralnetworks.operand_types import byte_size
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Memory,
    Model,
    Operand,
    Request,
    RequestArgument,
    Subgraph,
    TokenValuePair,
)
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import Version

_BOUNDARY = (OperandLifeTime.TEMPORARY_VARIABLE, OperandLifeTime.SUBGRAPH_INPUT, OperandLifeTime.SUBGRAPH_OUTPUT)
"""Lifetimes that follow from the lists of inputs and outputs."""
_KINDS = ("ashmem", "mmap_fd", "mappableFile")
_FILES = ("mmap_fd", "mappableFile")
"""Kinds of memory that are passed as memory objects; all other is passed by pointer."""
_INTERPRETED = "MODEL.P8"
"""The rule that holds for drivers alone: a runtime may interpret IF and WHILE over unknown shapes."""


def require_visible_model(model: Model, version: Version) -> None:
    """Raise NotVisible where an app cannot build this very model."""
    obstacle = next(_obstacles(model, version), None)
    if obstacle is not None:
        raise NotVisible(f"an app of the C API cannot say this to a runtime: {obstacle}")
    if model.referenced and any(each.clause == _INTERPRETED for each in validate_model(model, version)):
        raise NotVisible("a runtime may interpret control flow over unknown shapes, which drivers have to refuse")


def require_visible_request(model: Model, request: Request) -> None:
    """Raise NotVisible where an app cannot pass these very arguments to a model."""
    obstacle = next(_obstacles_of_request(model, request), None)
    if obstacle is not None:
        raise NotVisible(f"an app of the C API cannot say this to a runtime: {obstacle}")


def require_without_hints(hints: tuple[TokenValuePair, ...]) -> None:
    """Raise NotVisible for hints: the runtime chooses the prefixes of the extensions that their tokens are of."""
    if hints:
        raise NotVisible("an app of the C API cannot say this to a runtime: hints by their tokens")


def _obstacles(model: Model, version: Version) -> Iterator[str]:
    if model.extension_name_to_prefix:
        yield "prefixes of extensions, which the runtime chooses"
    graphs = (model.main, *model.referenced)
    operands = [operand for graph in graphs for operand in graph.operands]
    for graph in graphs:
        yield from _of_graph(graph, version)
    for operand in operands:
        yield from _of_operand(operand, model)
    referenced = {each.location.offset for each in operands if each.lifetime == OperandLifeTime.SUBGRAPH}
    if referenced != set(range(len(model.referenced))):
        yield "graphs that no operand refers to, or that are not there"
    used = {each.location.pool_index for each in operands if each.lifetime == OperandLifeTime.CONSTANT_POOL}
    if used != set(range(len(model.pools))):
        yield "pools that no constant lies in, or that are not there"
    for pool in model.pools:
        yield from _of_memory(pool)
    if any(_refers_to_itself(model, number) for number in range(len(model.referenced))):
        yield "a graph that refers to itself"


def _of_graph(graph: Subgraph, version: Version) -> Iterator[str]:
    inputs, outputs = set(graph.input_indexes), set(graph.output_indexes)
    for index, operand in enumerate(graph.operands):
        if operand.lifetime in _BOUNDARY and operand.lifetime not in _following_from(index in inputs, index in outputs):
            yield "the lifetime of an operand, which follows from the lists of inputs and outputs"
    consumers = Counter(index for operation in graph.operations for index in operation.inputs)
    told = {index: operand.number_of_consumers for index, operand in enumerate(graph.operands)}
    if not version.is_aidl and any(consumers[index] != count for index, count in told.items()):
        yield "how many operations read an operand, which the runtime counts"
    yield from _of_order(graph)


def _following_from(is_input: bool, is_output: bool) -> tuple[OperandLifeTime, ...]:
    """The lifetimes that the lists may mean: both where an operand is in both, which can be said."""
    found = []
    if is_input:
        found.append(OperandLifeTime.SUBGRAPH_INPUT)
    if is_output:
        found.append(OperandLifeTime.SUBGRAPH_OUTPUT)
    return tuple(found) or (OperandLifeTime.TEMPORARY_VARIABLE,)


def _of_order(graph: Subgraph) -> Iterator[str]:
    """Operations that read what a later one writes: a runtime sorts them, a driver has to refuse them."""
    written_later = {index for operation in graph.operations for index in operation.outputs}
    for operation in graph.operations:
        if written_later & set(operation.inputs):
            yield "the order of operations, which the runtime sorts"
        written_later -= set(operation.outputs)


def _of_operand(operand: Operand, model: Model) -> Iterator[str]:
    place = operand.location
    if operand.lifetime not in OperandLifeTime.__members__.values():
        yield f"the lifetime {operand.lifetime}"
    elif operand.lifetime == OperandLifeTime.CONSTANT_COPY:
        if (
            place.pool_index
            or place.padding
            or not 0 <= place.offset <= place.offset + place.length <= len(model.operand_values)
        ):
            yield "where among the values a constant lies"
    elif operand.lifetime == OperandLifeTime.CONSTANT_POOL:
        if place.padding or place.offset < 0 or place.length < 0:
            yield "a place of a constant that is no range of bytes"
    elif operand.lifetime == OperandLifeTime.SUBGRAPH:
        if place.pool_index or place.length or place.padding:
            yield "where a graph lies"
    elif place != DataLocation():
        yield "where an operand without a constant value lies"
    extra = operand.extra_params
    if extra is not None and (extra.channel_quant is None) == (extra.extension is None):
        yield "extra parameters of no kind, or of two"


def _refers_to_itself(model: Model, number: int) -> bool:
    """True where following the operands of a graph leads back to it."""
    seen: set[int] = set()
    ahead = [number]
    while ahead:
        for operand in model.referenced[ahead.pop()].operands:
            target = operand.location.offset
            if operand.lifetime == OperandLifeTime.SUBGRAPH and 0 <= target < len(model.referenced):
                if target == number:
                    return True
                if target not in seen:
                    seen.add(target)
                    ahead.append(target)
    return False


def is_by_pointer(request: Request) -> bool:
    """True where arguments are passed by pointer; where any of a request lies in a file, all are by memory object."""
    return not any(pool.pool is not None and pool.pool.kind in _FILES for pool in request.pools)


def _of_memory(pool: Memory) -> Iterator[str]:
    if pool.kind.startswith("hardware"):
        yield "hardware buffers, which exist on Android alone"
    elif pool.kind not in _KINDS:
        yield f"memory of the kind {pool.kind!r}"
    elif pool.token <= 0:
        yield "a pool without memory"
    elif pool.size < 0 or pool.offset < 0:
        yield "a negative size or offset of memory"


def _obstacles_of_request(model: Model, request: Request) -> Iterator[str]:
    for pool in request.pools:
        if pool.pool is None:
            yield "buffers by a driver's tokens"
        else:
            yield from _of_memory(pool.pool)
    for argument in (*request.inputs, *request.outputs):
        yield from _of_argument(argument, request)
    for index, argument in zip(model.main.output_indexes, request.outputs, strict=False):
        operand = model.main.operands[index]
        size = byte_size(operand.type, argument.dimensions or operand.dimensions)
        if size not in (0, argument.location.length):
            yield "an output of another length than its shape has, which a runtime refuses itself"


def _of_argument(argument: RequestArgument, request: Request) -> Iterator[str]:
    place = argument.location
    if argument.has_no_value:
        if place != DataLocation() or argument.dimensions:
            yield "an omitted argument with a place or a shape"
    elif not 0 <= place.pool_index < len(request.pools):
        yield "an argument in a pool that is not there"
    else:
        pool = request.pools[place.pool_index].pool
        if pool is None or not 0 <= place.offset <= place.offset + place.length <= pool.size:
            yield "an argument outside of its pool"
        elif place.length == 0 and is_by_pointer(request):
            yield "an argument of no bytes: with a pointer that is one that is omitted"
        elif not 0 <= place.padding <= pool.size - place.offset - place.length:
            yield "padding outside of the pool: an app gives addresses and lengths"
