"""Rewrites graphs for TFLM, which knows neither unsigned 8 bit nor float16: the same values in signed and float32.

HAL 1.3 wants both 8-bit forms of an operation or neither. They differ by 128 in stored values and zero point.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from npu_conformance.adapters.lowering.operands import LoweringError
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import Operand, Subgraph

Array = npt.NDArray[Any]

OFFSET = 128

UNSIGNED = OperandType.TENSOR_QUANT8_ASYMM
HALF = (OperandType.TENSOR_FLOAT16, OperandType.FLOAT16)
_REPLACED: dict[int, OperandType] = {
    UNSIGNED: OperandType.TENSOR_QUANT8_ASYMM_SIGNED,
    OperandType.TENSOR_FLOAT16: OperandType.TENSOR_FLOAT32,
    OperandType.FLOAT16: OperandType.FLOAT32,
}


def rewritten(graph: Subgraph) -> Subgraph:
    """The graph with the types that TFLM has. Raises LoweringError where stored values count, not what they mean."""
    for operation in graph.operations:
        involved = {graph.operands[index].type for index in (*operation.inputs, *operation.outputs)}
        if UNSIGNED in involved and operation.type in (OperationType.CAST, OperationType.PAD_V2):
            raise LoweringError(f"operation {operation.type} of unsigned 8 bit goes by stored values")
    return msgspec.structs.replace(graph, operands=tuple(map(_replaced, graph.operands)))


def rewritten_values(graph: Subgraph, values: Mapping[int, Array]) -> dict[int, Array]:
    """Stored elements of operands of the original graph, as the rewritten one stores them."""
    return {index: forward(graph.operands[index], value) for index, value in values.items()}


def forward(operand: Operand, value: Array) -> Array:
    """Return the stored elements of an original operand as TFLM gets them."""
    if operand.type == UNSIGNED:
        return (value.astype(np.int16) - OFFSET).astype(np.int8)
    return value.astype(np.float32) if operand.type in HALF else value


def backward(operand: Operand, value: Array) -> Array:
    """Return a result of TFLM as the original operand stores it."""
    if operand.type == UNSIGNED:
        return (value.astype(np.int16) + OFFSET).astype(np.uint8)
    if operand.type in HALF:
        with np.errstate(over="ignore"):
            # Beyond float16 lies its infinity.
            return value.astype(np.float16)
    return value


def _replaced(operand: Operand) -> Operand:
    kind = _REPLACED.get(operand.type)
    if kind is None:
        return operand
    offset = OFFSET if operand.type == UNSIGNED else 0
    return msgspec.structs.replace(operand, type=kind, zero_point=operand.zero_point - offset)
