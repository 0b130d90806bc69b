"""How an NNAPI operand looks in a .tflite graph: element type, quantisation, constant values."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_conformance.adapters.lowering.graph import Quantization
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import Operand

COMPUTED_AS = {OperandType.TENSOR_FLOAT16: "float32"}
"""NNAPI types that flow through the graph as another type. A float16 value is exact in float32."""

BYTES_ONLY = (OperandType.TENSOR_BOOL8, OperandType.TENSOR_QUANT16_ASYMM)
"""Types that no lowered kernel computes with; they are only copied."""


class LoweringError(Exception):
    """The operation has no equivalent in .tflite, or none that this lowering knows. The message says why."""


def storage_dtype(operand: Operand) -> np.dtype[Any]:
    """Type of an element as it lies in memory pools. Raises LoweringError for a type NNAPI does not define."""
    info = OPERAND_TYPES.get(operand.type)
    if info is None or not info.size:
        raise LoweringError(f"operand type {operand.type} is unknown")
    return np.dtype(info.dtype)


def graph_dtype(operand: Operand) -> str:
    """Element type of the operand's tensor inside the graph."""
    return COMPUTED_AS.get(OperandType(operand.type), storage_dtype(operand).name)


def quantization(operand: Operand) -> Quantization | None:
    """Quantisation of the operand's tensor; null for a type without one."""
    parameters = operand.extra_params.channel_quant if operand.extra_params is not None else None
    if parameters is not None:
        return Quantization(tuple(parameters.scales), (0,) * len(parameters.scales), parameters.channel_dim)
    info = OPERAND_TYPES.get(operand.type)
    if info is None or not info.is_tensor or not operand.scale:
        return None
    return Quantization((operand.scale,), (operand.zero_point,))


def is_known(dimensions: tuple[int, ...]) -> bool:
    """True for a tensor's dimensions that leave nothing open: neither the rank nor a size."""
    return bool(dimensions) and all(dimensions)
