"""The form of an NNAPI operand in a .tflite graph: element type, quantisation, constant values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_conformance.adapters.engine_interface import EngineError
from npu_conformance.adapters.lowering.graph import Quantization
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import Operand, Subgraph

COMPUTED_AS = {OperandType.TENSOR_FLOAT16: "float32"}
"""NNAPI types that flow through the graph as another type. A float16 value is exact in float32."""

LOWEST_SCALE, HIGHEST_SCALE = 1e-9, 1e9
"""LiteRT's kernels abort the process for scales outside of these, which no network has."""

LOWEST_CHANNEL_SCALE = 1e-16
"""Networks have channels whose weights are as good as zero, and LiteRT computes with their scales."""

HIGHEST_RANK = 6
"""LiteRT's broadcasting kernels abort the process above rank 8; NNAPI itself promises 4."""

MOST_ELEMENTS = 1 << 28
"""The most elements of one tensor: LiteRT allocates without a check."""


class LoweringError(EngineError):
    """The operation has no equivalent in the engine, or none that its lowering knows. The message says why."""


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
    """Quantisation of the operand's tensor; None for a type without one. Raises LoweringError for absurd scales."""
    parameters = operand.extra_params.channel_quant if operand.extra_params is not None else None
    if parameters is not None:
        _check_scales(parameters.scales, LOWEST_CHANNEL_SCALE)
        return Quantization(tuple(parameters.scales), (0,) * len(parameters.scales), parameters.channel_dim)
    info = OPERAND_TYPES.get(operand.type)
    if info is None or not info.is_tensor or not operand.scale:
        return None
    _check_scales((operand.scale,))
    return Quantization((operand.scale,), (operand.zero_point,))


def used_operands(graph: Subgraph) -> set[int]:
    """Those that have to have a tensor: of operations and outputs. Others may be as no engine takes them."""
    return {*graph.output_indexes, *(index for one in graph.operations for index in (*one.inputs, *one.outputs))}


def check_size(dimensions: Sequence[int]) -> None:
    """Raise LoweringError for a shape that LiteRT cannot take safely."""
    if len(dimensions) > HIGHEST_RANK:
        raise LoweringError(f"a tensor of rank {len(dimensions)}, more than {HIGHEST_RANK}")
    if math.prod(dimensions) > MOST_ELEMENTS:
        raise LoweringError(f"a tensor of dimensions {tuple(dimensions)}, more than {MOST_ELEMENTS} elements")


def _check_scales(scales: Sequence[float], lowest: float = LOWEST_SCALE) -> None:
    if not all(lowest <= scale <= HIGHEST_SCALE for scale in scales):
        raise LoweringError(f"a scale outside of {lowest} to {HIGHEST_SCALE}")


def is_known(dimensions: tuple[int, ...]) -> bool:
    """True for a tensor's dimensions that leave nothing open: neither the rank nor a size."""
    return bool(dimensions) and all(dimensions)


def is_tensor(operand: Operand) -> bool:
    """True where the operand's type is a tensor's."""
    info = OPERAND_TYPES.get(operand.type)
    return info is not None and info.is_tensor
