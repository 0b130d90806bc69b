"""Reads capabilities: the speed that a device states for a type, in the form of any version."""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import Capabilities, Model, Operation, PerformanceInfo, Subgraph

_LARGEST = float.fromhex("0x1.fffffep+127")
UNKNOWN = PerformanceInfo(_LARGEST, _LARGEST)
"""What counts as the performance of what capabilities do not name: the largest float32 (NNHAL-QUERY-009)."""

_FLOATS = (OperandType.FLOAT32, OperandType.TENSOR_FLOAT32)


def of_type(capabilities: Capabilities, operand_type: int, *, relaxed: bool = False) -> PerformanceInfo:
    """The performance of operations whose first operand has this type.

    relaxed: of a model that lets float32 be computed as float16. 1.0 and 1.1 name floats and quantised types only.
    """
    if relaxed and operand_type in _FLOATS:
        return _relaxed(capabilities, is_tensor=operand_type == OperandType.TENSOR_FLOAT32)
    if capabilities.float32_performance is not None:
        info = OPERAND_TYPES.get(operand_type)
        is_quantized = info is not None and info.is_quantized
        found = capabilities.quantized8_performance if is_quantized else capabilities.float32_performance
        return found or UNKNOWN
    by_type = {entry.type: entry.info for entry in capabilities.operand_performance}
    return by_type.get(operand_type, UNKNOWN)


def _relaxed(capabilities: Capabilities, *, is_tensor: bool) -> PerformanceInfo:
    newer = (
        capabilities.relaxed_float32_to_float16_performance_tensor
        if is_tensor
        else capabilities.relaxed_float32_to_float16_performance_scalar
    )
    return newer or capabilities.relaxed_float32_to_float16_performance or UNKNOWN


def cost(capabilities: Capabilities, model: Model, *, power: bool = False) -> float:
    """The cost of a model on a device as a framework estimates it: the sum over its operations, 1 for each on the CPU.

    An operation counts by the type of its first input; IF as itself and the mean of its branches; WHILE as itself,
    its condition and its body. power: power usage instead of execution time.
    """
    return _cost_of_graph(capabilities, model, model.main, power)


def _cost_of_graph(capabilities: Capabilities, model: Model, graph: Subgraph, power: bool) -> float:
    return sum(cost_of_operation(capabilities, model, graph, operation, power) for operation in graph.operations)


def cost_of_operation(
    capabilities: Capabilities, model: Model, graph: Subgraph, operation: Operation, power: bool
) -> float:
    """The cost of one operation of a graph of the model, counted as in `cost`."""

    def inner(position: int) -> float:
        number = graph.operands[operation.inputs[position]].location.offset
        return _cost_of_graph(capabilities, model, model.referenced[number], power)

    if operation.type == OperationType.IF:
        return _figure(capabilities.if_performance or UNKNOWN, power) + (inner(1) + inner(2)) / 2
    if operation.type == OperationType.WHILE:
        return _figure(capabilities.while_performance or UNKNOWN, power) + inner(0) + inner(1)
    kind = graph.operands[operation.inputs[0]].type
    relaxed = model.relax_computation_float32_to_float16
    return _figure(of_type(capabilities, kind, relaxed=relaxed), power)


def _figure(info: PerformanceInfo, power: bool) -> float:
    return info.power_usage if power else info.exec_time
