"""A wire model in a form of its own: operands by the order in which operations name them, constants by their bytes.

Two models of the same form are the same model, however their operands are numbered and their constants are stored.
"""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime
from npu_conformance.specs.neuralnetworks.types import Model, Subgraph

_CONSTANTS = (OperandLifeTime.CONSTANT_COPY, OperandLifeTime.CONSTANT_POOL)
_STORED = 128
"""Bytes up to which a constant travels in the model; of larger ones only the length is compared."""


def form(model: Model) -> object:
    """The form of a model, to be compared with another's."""
    graphs = tuple(_graph(model, graph) for graph in (model.main, *model.referenced))
    return graphs, model.relax_computation_float32_to_float16


def _graph(model: Model, graph: Subgraph) -> object:
    order: dict[int, int] = {}
    for index in graph.input_indexes:
        order.setdefault(index, len(order))
    operations = tuple(
        (
            operation.type,
            tuple(_named(model, graph, order, index) for index in operation.inputs),
            tuple(_named(model, graph, order, index) for index in operation.outputs),
        )
        for operation in graph.operations
    )
    return len(graph.input_indexes), operations, tuple(order.get(index, -1) for index in graph.output_indexes)


def _named(model: Model, graph: Subgraph, order: dict[int, int], index: int) -> object:
    operand = graph.operands[index]
    described = (operand.type, operand.dimensions, operand.scale, operand.zero_point, operand.extra_params)
    if operand.lifetime in _CONSTANTS:
        return described, constant_bytes(model, graph, index)
    if operand.lifetime in (OperandLifeTime.NO_VALUE, OperandLifeTime.SUBGRAPH):
        return described, OperandLifeTime(operand.lifetime).name
    return described, order.setdefault(index, len(order))


def constant_bytes(model: Model, graph: Subgraph, index: int) -> bytes | int:
    """The bytes of a constant; its length where it is too large for the model itself."""
    place = graph.operands[index].location
    if graph.operands[index].lifetime != OperandLifeTime.CONSTANT_COPY or place.length > _STORED:
        return place.length
    return model.operand_values[place.offset : place.offset + place.length]
