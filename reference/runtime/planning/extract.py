"""Parts of a model as models of their own: for steps, slices, and graphs that IF and WHILE refer to."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks.enums import EXTENSION_TYPE_LOW_BITS, OperandLifeTime
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Operation, Subgraph

_T = OperandLifeTime
COMPUTED = (_T.TEMPORARY_VARIABLE, _T.SUBGRAPH_OUTPUT)
"""Lifetimes of what operations write."""


class Extract(msgspec.Struct, frozen=True):
    """Some operations of a graph as a model. inputs, outputs: operands of the graph, for each of the model's own."""

    model: Model
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def extract(model: Model, operations: Sequence[int]) -> Extract:
    """These operations of the main graph, in this order.

    Its inputs are what they read and do not write: first inputs of the graph, then temporaries, then outputs of the
    graph that other operations write. Its outputs are what they write for the graph's outputs, then for others.
    """
    graph = model.main
    chosen = [graph.operations[index] for index in operations]
    written = {index for operation in chosen for index in operation.outputs}
    left = set(range(len(graph.operations))) - set(operations)
    others = [graph.operations[index] for index in left]
    inputs = _inputs(graph, chosen, written)
    outputs = _outputs(graph, written, {index for operation in others for index in operation.inputs})
    used = [*dict.fromkeys(index for one in chosen for index in (*one.inputs, *one.outputs))]
    places = {index: place for place, index in enumerate(used)}

    def moved(indexes: Sequence[int]) -> tuple[int, ...]:
        return tuple(places[index] for index in indexes)

    main = Subgraph(
        tuple(_operand(graph.operands[index], index in inputs, index in outputs, index in written) for index in used),
        tuple(Operation(one.type, moved(one.inputs), moved(one.outputs)) for one in chosen),
        moved(inputs),
        moved(outputs),
    )
    return Extract(graph_as_model(model, main), tuple(inputs), tuple(outputs))


def graph_as_model(model: Model, graph: Subgraph) -> Model:
    """A graph of the model as the main one, with the graphs that it refers to, its extensions, and no others."""
    model = _with_graphs(model, graph) if model.referenced else replace(model, main=graph)
    return _with_used_extensions(model) if model.extension_name_to_prefix else model


def _with_used_extensions(model: Model) -> Model:
    """The model with those extensions alone whose types or operations are in it (FW-EXT-005)."""
    graphs = (model.main, *model.referenced)
    operands = [operand.type for graph in graphs for operand in graph.operands]
    operations = [operation.type for graph in graphs for operation in graph.operations]
    used = {code >> EXTENSION_TYPE_LOW_BITS for code in (*operands, *operations)}
    kept = tuple(entry for entry in model.extension_name_to_prefix if entry.prefix in used)
    return replace(model, extension_name_to_prefix=kept)


def _with_graphs(model: Model, graph: Subgraph) -> Model:
    numbers: list[int] = []
    main = _renumbered(graph, numbers)
    referenced: list[Subgraph] = []
    while len(referenced) < len(numbers):
        referenced.append(_renumbered(model.referenced[numbers[len(referenced)]], numbers))
    return replace(model, main=main, referenced=tuple(referenced))


def _renumbered(graph: Subgraph, numbers: list[int]) -> Subgraph:
    """The graph with references to places in `numbers`, which grows by those that it does not have yet."""

    def moved(operand: Operand) -> Operand:
        if operand.lifetime != _T.SUBGRAPH:
            return operand
        number = operand.location.offset
        if number not in numbers:
            numbers.append(number)
        return replace(operand, location=replace(operand.location, offset=numbers.index(number)))

    return replace(graph, operands=tuple(map(moved, graph.operands)))


def _inputs(graph: Subgraph, chosen: Sequence[Operation], written: set[int]) -> list[int]:
    read = [*dict.fromkeys(index for operation in chosen for index in operation.inputs if index not in written)]
    order = (_T.SUBGRAPH_INPUT, _T.TEMPORARY_VARIABLE, _T.SUBGRAPH_OUTPUT)
    return [index for lifetime in order for index in read if graph.operands[index].lifetime == lifetime]


def _outputs(graph: Subgraph, written: set[int], read_by_others: set[int]) -> list[int]:
    of_graph = [index for index in graph.output_indexes if index in written]
    return of_graph + sorted(index for index in written & read_by_others if index not in of_graph)


def _operand(operand: Operand, is_input: bool, is_output: bool, is_written: bool) -> Operand:
    if is_input:
        return replace(operand, lifetime=_T.SUBGRAPH_INPUT)
    if is_output:
        return replace(operand, lifetime=_T.SUBGRAPH_OUTPUT)
    return replace(operand, lifetime=_T.TEMPORARY_VARIABLE) if is_written else operand
