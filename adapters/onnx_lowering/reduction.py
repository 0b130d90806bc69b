"""MEAN, the REDUCE operations, ARGMAX, ARGMIN and TOPK_V2."""

from __future__ import annotations

import numpy as np

from npu_conformance.adapters.lowering.operands import LoweringError
from npu_conformance.adapters.lowering.shape import wrapped_axes
from npu_conformance.adapters.onnx_lowering.context import Lower, Step
from npu_conformance.specs.neuralnetworks.enums import OperandType


def reduction(operator: str) -> Lower:
    """MEAN or a REDUCE operation; where every axis goes NNAPI keeps [1], ONNX nothing. Truth values as integers."""

    def lower(step: Step) -> None:
        rank = len(step.dimensions(0))
        axes = sorted(set(wrapped_axes(step.value(1).tolist(), rank)))
        if not axes:
            raise LoweringError("no axis to reduce")
        keeps = step.scalar(2) > 0
        is_truth = step.is_type(0, OperandType.TENSOR_BOOL8)
        source = step.cast(step.real(0), np.int32) if is_truth else step.real(0)
        result = step.emit(operator, source, step.integers(axes), keepdims=int(keeps))
        step.store(step.reshaped(result, [1]) if len(axes) == rank and not keeps else result)

    return lower


def argument(operator: str) -> Lower:
    """ARGMAX and ARGMIN; where one axis was all NNAPI keeps [1], ONNX nothing."""

    def lower(step: Step) -> None:
        rank = len(step.dimensions(0))
        (axis,) = wrapped_axes([step.scalar(1)], rank)
        found = step.cast(step.emit(operator, step.real(0), axis=axis, keepdims=0), np.int32)
        step.bind(step.reshaped(found, [1]) if rank == 1 else found)

    return lower


def topk_v2(step: Step) -> None:
    """TOPK_V2, of the last axis."""
    values, indices = step.graph.emit("TopK", [step.stored(0), step.integers([step.scalar(1)])], 2, axis=-1)
    step.bind(values)
    step.bind(step.cast(indices, np.int32), 1)
