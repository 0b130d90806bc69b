"""Operand types and data for operations that only move elements: a result shows where each element came from."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy

from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.plans.base import Planned, tensor

FLOAT32 = OperandType.TENSOR_FLOAT32
FLOAT16 = OperandType.TENSOR_FLOAT16
INT32 = OperandType.TENSOR_INT32
QUANT8 = OperandType.TENSOR_QUANT8_ASYMM
SIGNED = OperandType.TENSOR_QUANT8_ASYMM_SIGNED
KINDS = {"float32": FLOAT32, "float16": FLOAT16, "quant8": QUANT8, "quant8_signed": SIGNED, "int32": INT32}
FOUR = ("float32", "float16", "quant8", "quant8_signed")
"""The types that operations without int32 take."""

_STARTS = {"quant8": 0, "quant8_signed": -128, "int32": -(2**31)}
_STEPS = {"quant8": 1, "quant8_signed": 1, "int32": 65537}


def source(kind: str, dimensions: Sequence[int], *, zero_point: int = 3, scale: float = 0.5, first: int = 0) -> Planned:
    """An input whose elements all differ (up to 256): counted up from the `first` value of the type."""
    steps = first + numpy.arange(prod(dimensions)).reshape(dimensions)
    data: Any = (steps - 40) * 0.25 if kind.startswith("float") else _STARTS[kind] + steps * _STEPS[kind]
    return tensor(KINDS[kind], dimensions, data, **quantization(kind, zero_point, scale))


def result(kind: str, dimensions: Sequence[int], *, zero_point: int = 3, scale: float = 0.5) -> Planned:
    """An output with the quantisation of `source`."""
    return tensor(KINDS[kind], dimensions, **quantization(kind, zero_point, scale))


def quantization(kind: str, zero_point: int, scale: float) -> dict[str, Any]:
    """Scale and zero point of a quantised type, nothing for others. zero_point is that of the unsigned type."""
    if not kind.startswith("quant8"):
        return {}
    return {"scale": scale, "zero_point": zero_point - 128 if kind == "quant8_signed" else zero_point}
