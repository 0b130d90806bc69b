"""What a scripted driver supports, and the performance that it states."""

from __future__ import annotations

from npu_conformance.reference.hal.capabilities import capabilities
from npu_conformance.specs.neuralnetworks.enums import BASE_TYPE_MAX, EXTENSION_TYPE_LOW_BITS, OperationType
from npu_conformance.specs.neuralnetworks.operation_view import constant_value
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript
from npu_conformance.specs.neuralnetworks.types import (
    Capabilities,
    Model,
    OperandPerformance,
    Operation,
    PerformanceInfo,
    Subgraph,
)
from npu_conformance.specs.versions import Version

_CONTROL_FLOW = {OperationType.IF: 1, OperationType.WHILE: 0}
"""Where the two graphs are among the inputs."""


def capabilities_of(script: DriverScript) -> Capabilities:
    """The capabilities of a script, with the fields of its version."""
    general = PerformanceInfo(script.exec_time, script.power_usage)
    relaxed = script.relaxed or general
    if script.hal < Version.V1_2:
        by_type = {entry.type: entry.info for entry in script.operand_performance}
        has_relaxed = script.hal == Version.V1_1
        return Capabilities(by_type.get(3, general), by_type.get(5, general), relaxed if has_relaxed else None)
    has_control_flow = script.hal >= Version.V1_3
    return Capabilities(
        relaxed_float32_to_float16_performance_scalar=relaxed,
        relaxed_float32_to_float16_performance_tensor=relaxed,
        operand_performance=_listed(script, general),
        if_performance=(script.if_performance or general) if has_control_flow else None,
        while_performance=(script.while_performance or general) if has_control_flow else None,
    )


def _listed(script: DriverScript, general: PerformanceInfo) -> tuple[OperandPerformance, ...]:
    """The performance by operand type, sorted."""
    by_type = {entry.type: entry.info for entry in script.operand_performance}
    types = script.listed_types
    if types is None:
        types = tuple({entry.type for entry in capabilities(script.hal).operand_performance} | set(by_type))
    return tuple(OperandPerformance(kind, by_type.get(kind, general)) for kind in sorted(types))


def supports(script: DriverScript, model: Model, index: int) -> bool:
    """Whether the script names an operation of the main graph, and all that it refers to."""
    return _supports(script, model, model.main, model.main.operations[index])


def is_oem(model: Model) -> bool:
    """Whether the model has an operation of an OEM, which can be prepared but not computed here."""
    return any(operation.type == OperationType.OEM_OPERATION for operation in model.main.operations)


def _supports(script: DriverScript, model: Model, graph: Subgraph, operation: Operation) -> bool:
    if operation.type > BASE_TYPE_MAX and not _has_extension(script, model, operation.type):
        return False
    if script.operations is None:
        return operation.type != OperationType.OEM_OPERATION
    named = [one for one in script.operations if one.type == operation.type]
    if not any(one.activation is None or _has_activation(model, graph, operation, one.activation) for one in named):
        return False
    graphs = _referenced(model, graph, operation)
    return all(_supports(script, model, inner, one) for inner in graphs for one in inner.operations)


def _has_extension(script: DriverScript, model: Model, code: int) -> bool:
    """Whether the script lists the extension whose prefix a code has in the model."""
    prefix = code >> EXTENSION_TYPE_LOW_BITS
    names = [entry.name for entry in model.extension_name_to_prefix if entry.prefix == prefix]
    return any(extension.name in names for extension in script.extensions)


def _referenced(model: Model, graph: Subgraph, operation: Operation) -> list[Subgraph]:
    first = _CONTROL_FLOW.get(OperationType(operation.type)) if operation.type in _CONTROL_FLOW else None
    if first is None:
        return []
    operands = [graph.operands[index] for index in operation.inputs[first : first + 2]]
    return [model.referenced[operand.location.offset] for operand in operands]


def _has_activation(model: Model, graph: Subgraph, operation: Operation, activation: int) -> bool:
    """Whether the last input, where an activation is in the operations that have one, is a constant of this value."""
    value = constant_value(model, graph.operands[operation.inputs[-1]])
    return value is not None and value.size == 1 and int(value.flat[0]) == activation
