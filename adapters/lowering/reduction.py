"""MEAN, the REDUCE operations, ARGMAX, ARGMIN and TOPK_V2."""

from __future__ import annotations

import numpy as np

from npu_conformance.adapters.litert_runtime import schema
from npu_conformance.adapters.lowering.context import Lower, Step
from npu_conformance.adapters.lowering.graph import Tensor
from npu_conformance.adapters.lowering.operands import LoweringError
from npu_conformance.adapters.lowering.shape import wrapped_axes
from npu_conformance.specs.neuralnetworks.enums import OperandType


def reduction(builtin: str) -> Lower:
    """The lowering of MEAN or a REDUCE operation; where every axis goes NNAPI keeps [1], LiteRT nothing."""

    def lower(step: Step) -> None:
        rank = len(step.dimensions(0))
        axes = sorted(set(wrapped_axes(step.value(1).tolist(), rank)))
        if not axes:
            raise LoweringError("no axis to reduce")
        keeps = step.scalar(2) > 0
        # CAST makes every byte but 0 true, as BOOL8 has it, and truth values 0 and 1.
        is_truth = step.is_type(0, OperandType.TENSOR_BOOL8)
        source = _cast(step, step.tensor(0), "bool") if is_truth else step.tensor(0)
        result = step.like(source)
        step.graph.emit(builtin, [source, step.integers(axes)], result, "Reducer", keepDims=keeps)
        reduced = step.reshaped(result, [1]) if len(axes) == rank and not keeps else result
        step.bind(_cast(step, reduced, "uint8") if is_truth else reduced)

    return lower


def argmax(step: Step) -> None:
    """ARGMAX."""
    _argument(step, "ARG_MAX", "ArgMax")


def argmin(step: Step) -> None:
    """ARGMIN."""
    _argument(step, "ARG_MIN", "ArgMin")


def topk_v2(step: Step) -> None:
    """TOPK_V2; of equal elements LiteRT's first comes first, which NNAPI leaves open."""
    count = step.graph.constant(np.array(step.scalar(1), np.int32))
    step.graph.emit("TOPK_V2", [step.tensor(0), count], [step.output(0), step.output(1)], "TopKV2")


def _argument(step: Step, builtin: str, options: str) -> None:
    """Where one axis was all NNAPI keeps [1], LiteRT nothing."""
    rank = len(step.dimensions(0))
    axes = wrapped_axes([step.scalar(1)], rank)
    result = step.graph.add(Tensor("int32"))
    int32 = schema().TensorType.INT32
    step.graph.emit(builtin, [step.tensor(0), step.integers(axes)], result, options, outputType=int32)
    step.bind(step.reshaped(result, [1]) if rank == 1 else result)


def _cast(step: Step, number: int, dtype: str) -> int:
    result = step.graph.add(Tensor(dtype))
    step.graph.emit("CAST", [number], result, "Cast")
    return result
