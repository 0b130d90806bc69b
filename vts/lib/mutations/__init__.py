"""Invalid models made from valid ones by one edit: AOSP's ValidateModel families, and families of our own.

Every conforming device rejects each with INVALID_ARGUMENT. Source of AOSP's families, of what they leave out and of
what they never try: VTS ValidateModel.cpp of each HAL version. Two more of its families change arguments, not models:
vts.validation.arguments.
"""

from __future__ import annotations

from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib.mutations import needs, non_aosp, operands, operations, signatures, subgraphs
from npu_conformance.vts.lib.mutations.mutation import Family, Mutation

__all__ = ["FAMILIES", "Family", "Mutation"]


def _models(*numbers: int) -> tuple[str, ...]:
    return tuple(f"MODEL-{number:03}" for number in numbers)


_IN_EVERY_GRAPH = (
    Family("operand_type", operands.operand_type, _models(2, 3, 5), "mutateOperandType"),
    Family("operand_rank", operands.operand_rank, _models(7, 8), "mutateOperandRank", needs=needs.rank),
    Family("operand_scale", operands.operand_scale, _models(12, 13, 14), "mutateOperandScale"),
    Family("operand_zero_point", operands.operand_zero_point, _models(*range(15, 20)), "mutateOperandZeroPoint"),
    Family("operand_lifetime", operands.operand_lifetime, _models(45, 46, 49), "mutateOperandLifeTime"),
    Family("operand_input_output", operands.operand_input_output, _models(52), "mutateOperandInputOutput"),
    Family(
        "number_of_consumers",
        operands.number_of_consumers,
        _models(50),
        "mutateOperandNumberOfConsumers",
        until=HIDL_LAST,
    ),
    Family(
        "execution_order",
        operations.execution_order,
        _models(46),
        "mutateExecutionOrder",
        needs=needs.several_operations,
    ),
    Family("add_writer", operations.add_writer, _models(48), "mutateOperandAddWriter"),
    Family("operation_operand_type", signatures.operation_operand_type, _models(44), "mutateOperationOperandType"),
    Family("operation_type", operations.operation_type, _models(3, 6), "mutateOperationType"),
    Family(
        "operand_index",
        operations.operand_index,
        _models(38, 39),
        "mutateOperationInputOperandIndex and mutateOperationOutputOperandIndex",
    ),
    Family(
        "remove_write",
        operations.remove_write,
        _models(46, 49),
        "mutateOperationRemoveWrite",
        needs=needs.several_operations,
    ),
    Family("remove_operand", operations.remove_operand, _models(38, 51), "removeOperand"),
    Family("remove_operation", operations.remove_operation, _models(1, 55), "removeOperation"),
    Family("remove_operation_input", operations.remove_operation_input, _models(40), "removeOperationInput"),
    Family("remove_operation_output", operations.remove_operation_output, _models(42), "removeOperationOutput"),
    Family("add_operation_input", operations.add_operation_input, _models(41), "addOperationInput"),
    Family("add_operation_output", operations.add_operation_output, _models(43), "addOperationOutput"),
    Family("location", non_aosp.location, (*_models(30, 32, 34, 36, 37), "ROBUST-002")),
    Family("channel_quantization", non_aosp.channel_quantization, _models(*range(20, 25)), needs=needs.channels),
    Family("extra_params", non_aosp.extra_params, _models(25), since=Version.V1_2),
    Family("graph_indexes", non_aosp.graph_indexes, _models(51, 52, 53)),
    Family("lifetime_code", non_aosp.lifetime_code, _models(28, 29)),
    Family("dimension", non_aosp.dimension, _models(11), since=Version.FL5),
    Family("constant_size", non_aosp.constant_size, (*_models(34, 35), "ROBUST-002"), needs=needs.constant_tensor),
)

_OF_MODELS = (
    Family(
        "pool_location", non_aosp.pool_location, (*_models(31, 34, 37), "ROBUST-002"), needs=needs.constant,
        pooled=True,
    ),
    Family(
        "extension_mapping", non_aosp.extension_mapping, ("EXTENSION-003", "EXTENSION-004"), since=Version.V1_2
    ),
    Family(
        "subgraph_reference", subgraphs.subgraph_reference, (*_models(28, 29, 33), "CONTROLFLOW-004"),
        since=Version.V1_3, needs=needs.other_graphs,
    ),
    Family(
        "reference_cycle", subgraphs.reference_cycle, ("CONTROLFLOW-002",), since=Version.V1_3, needs=needs.other_graphs
    ),
    Family(
        "control_flow_arity", subgraphs.control_flow_arity, ("CONTROLFLOW-005", "CONTROLFLOW-006"),
        since=Version.V1_3, needs=needs.other_graphs,
    ),
    Family(
        "referenced_graphs", subgraphs.inside(_IN_EVERY_GRAPH), ("CONTROLFLOW-001",),
        since=Version.V1_3, needs=needs.other_graphs,
    ),
)  # fmt: skip

FAMILIES = (*_IN_EVERY_GRAPH, *_OF_MODELS)
"""Every family; AOSP's in its order."""
