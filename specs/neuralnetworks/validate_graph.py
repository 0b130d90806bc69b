"""Rules of whole graphs: what is listed, written and read (G), referenced (M4, M5), pools (M3), extensions (X2)."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime
from npu_conformance.specs.neuralnetworks.types import Memory, Subgraph
from npu_conformance.specs.neuralnetworks.validate_operands import REFERENCE
from npu_conformance.specs.neuralnetworks.validate_scope import ModelUnderValidation, VersionLimits, operand_label

_TEMPORARY = int(OperandLifeTime.TEMPORARY_VARIABLE)
_INPUT = int(OperandLifeTime.SUBGRAPH_INPUT)
_OUTPUT = int(OperandLifeTime.SUBGRAPH_OUTPUT)
WRITTEN = (_TEMPORARY, _OUTPUT)


def check_graph(scope: ModelUnderValidation, number: int, graph: Subgraph) -> None:
    """Report what is wrong with the lists of inputs and outputs, the order of operations and the consumer counts."""
    _check_listed(scope, number, graph, graph.input_indexes, _INPUT, "input")
    _check_listed(scope, number, graph, graph.output_indexes, _OUTPUT, "output")
    _check_order(scope, number, graph)
    if not scope.limits.is_aidl:
        _check_consumers(scope, number, graph)


def _check_listed(
    scope: ModelUnderValidation, number: int, graph: Subgraph, indexes: Sequence[int], lifetime: int, what: str
) -> None:
    count = len(graph.operands)
    if not indexes:
        scope.report("MODEL.G7", f"the graph has no {what}", number)
    if len(set(indexes)) != len(indexes):
        scope.report("MODEL.G1", f"an operand is listed twice as graph {what}", number)
    for index in indexes:
        if not 0 <= index < count:
            scope.report("MODEL.G1", f"graph {what} {index} does not exist, the graph has {count} operands", number)
        elif graph.operands[index].lifetime != lifetime:
            label = operand_label(index, graph.operands[index])
            message = f"{label}: listed as graph {what} with lifetime {graph.operands[index].lifetime}"
            scope.report("MODEL.G1", message, number, operand=index)
    for index, operand in enumerate(graph.operands):
        if operand.lifetime == lifetime and index not in indexes:
            message = f"{operand_label(index, operand)}: not listed as graph {what}"
            scope.report("MODEL.G1", message, number, operand=index)


def _check_order(scope: ModelUnderValidation, number: int, graph: Subgraph) -> None:
    operands = graph.operands
    count = len(operands)
    has_value = [operand.lifetime not in WRITTEN for operand in operands]
    blamed = [False] * count
    for position, operation in enumerate(graph.operations):
        for index in operation.inputs:
            if 0 <= index < count and not has_value[index] and not blamed[index]:
                blamed[index] = True
                message = f"operation {position}: {operand_label(index, operands[index])} has no value yet"
                scope.report("MODEL.G3", message, number, position, index)
        for index in operation.outputs:
            if 0 <= index < count and has_value[index] and operands[index].lifetime in WRITTEN:
                message = f"operation {position}: {operand_label(index, operands[index])} is written a second time"
                scope.report("MODEL.G4", message, number, position, index)
            elif 0 <= index < count:
                has_value[index] = True
    for index, operand in enumerate(operands):
        if not has_value[index] and not blamed[index]:
            scope.report("MODEL.G6", f"{operand_label(index, operand)}: never written", number, operand=index)


def _check_consumers(scope: ModelUnderValidation, number: int, graph: Subgraph) -> None:
    count = len(graph.operands)
    uses = [0] * count
    for operation in graph.operations:
        for index in operation.inputs:
            if 0 <= index < count:
                uses[index] += 1
    for index, operand in enumerate(graph.operands):
        if operand.number_of_consumers != uses[index]:
            counts = f"{operand.number_of_consumers} consumers declared, {uses[index]} found"
            message = f"{operand_label(index, operand)}: {counts}"
            scope.report("MODEL.G5", message, number, operand=index)


def check_references(scope: ModelUnderValidation) -> None:
    """Report cycles among the referenced subgraphs, and those that nobody refers to."""
    referenced = scope.model.referenced
    if not scope.limits.has_subgraphs or not referenced:
        return
    edges = [_references(graph, len(referenced)) for graph in referenced]
    if _has_cycle(edges):
        scope.report("MODEL.M4", "referenced subgraphs refer to each other in a circle")
    used = set(_references(scope.model.main, len(referenced))).union(*edges)
    for index in range(len(referenced)):
        if index not in used:
            scope.report("MODEL.M5", f"referenced subgraph {index} is never referred to")


def _references(graph: Subgraph, count: int) -> list[int]:
    offsets = (operand.location.offset for operand in graph.operands if operand.lifetime == REFERENCE)
    return [offset for offset in offsets if 0 <= offset < count]


def _has_cycle(edges: Sequence[Sequence[int]]) -> bool:
    # Take away graphs that refer to nothing that is left; a rest means a circle.
    waiting = [set(targets) for targets in edges]
    sources: list[list[int]] = [[] for _ in edges]
    for source, targets in enumerate(waiting):
        for target in targets:
            sources[target].append(source)
    free = [index for index, targets in enumerate(waiting) if not targets]
    done = 0
    while free:
        done += 1
        leaf = free.pop()
        for source in sources[leaf]:
            waiting[source].discard(leaf)
            if not waiting[source]:
                free.append(source)
    return done != len(edges)


def check_pools(scope: ModelUnderValidation) -> None:
    """Report memory pools of the model that the version cannot take."""
    for index, pool in enumerate(scope.model.pools):
        problem = pool_problem(pool, scope.limits)
        if problem is not None:
            scope.report("MODEL.M3", f"pool {index}: {problem}")


def pool_problem(pool: Memory, limits: VersionLimits) -> str | None:
    """Return what is wrong with a memory pool of a model or a request, or None."""
    if pool.kind not in limits.pool_kinds:
        return f"HAL {limits.version} has no memory of kind {pool.kind!r}"
    if pool.token == 0:
        return "the handle is null"
    return f"size {pool.size} or offset {pool.offset} is negative" if pool.size < 0 or pool.offset < 0 else None


def check_extensions(scope: ModelUnderValidation) -> None:
    """Report a mapping of extensions that is not one to one or has a prefix out of range."""
    mappings = scope.model.extension_name_to_prefix
    if not scope.limits.has_extensions or not mappings:
        return
    last = 2**15 - 1 if scope.limits.is_aidl else 2**16 - 1
    if len({mapping.name for mapping in mappings}) != len(mappings):
        scope.report("MODEL.X2", "an extension name is mapped twice")
    if len({mapping.prefix for mapping in mappings}) != len(mappings):
        scope.report("MODEL.X2", "an extension prefix is mapped twice")
    for mapping in mappings:
        if not 0 < mapping.prefix <= last:
            scope.report("MODEL.X2", f"prefix {mapping.prefix} of {mapping.name!r} is not in 1..{last}")
