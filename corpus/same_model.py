"""Vectors of one model: what differs is their data alone, so that they are examples of one vector."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator

from msgspec.structs import replace

from npu_conformance.corpus.vectors import Graph, Vector, VectorOperand


def with_all_examples(vectors: Iterable[Vector]) -> Iterator[Vector]:
    """One vector for each model, with the examples of all vectors that have it, in order of the first ones."""
    groups: defaultdict[Hashable, list[Vector]] = defaultdict(list)
    for vector in vectors:
        groups[_model(vector)].append(vector)
    for first, *others in groups.values():
        yield replace(first, examples=(*first.examples, *(one for other in others for one in other.examples)))


def _model(vector: Vector) -> Hashable:
    return tuple(map(_graph, vector.graphs)), vector.relaxed, vector.kind, tuple(vector.ignored)


def _graph(graph: Graph) -> Hashable:
    operands = tuple((name, _operand(operand)) for name, operand in graph.operands.items())
    operations = tuple((one.type, one.inputs, one.outputs) for one in graph.operations)
    return operands, operations, graph.inputs, graph.outputs


def _operand(operand: VectorOperand) -> Hashable:
    quantisation = operand.channel_quant and (operand.channel_quant.channel_dim, operand.channel_quant.scales)
    value = None if operand.value is None else (operand.value.shape, operand.value.tobytes())
    form = (operand.type, operand.dimensions, operand.scale, operand.zero_point, operand.omitted, operand.subgraph)
    return *form, quantisation, value, operand.extension
