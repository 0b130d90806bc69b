"""QUANTIZE, DEQUANTIZE, CAST."""

from __future__ import annotations

from npu_conformance.adapters.litert_runtime import schema
from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import LoweringError
from npu_conformance.specs.neuralnetworks.enums import OperandType


def quantize(step: Step) -> None:
    """QUANTIZE."""
    step.graph.emit("QUANTIZE", [step.tensor(0)], step.output(), "Quantize")


def dequantize(step: Step) -> None:
    """DEQUANTIZE, also of per-channel values."""
    if step.is_type(0, OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL) and 0 in step.dimensions(0):
        raise LoweringError("per-channel values without elements, which end LiteRT's process")
    step.graph.emit("DEQUANTIZE", [step.tensor(0)], step.output(), "Dequantize")


def cast(step: Step) -> None:
    """CAST of stored values; to the same type a copy, which RESHAPE makes of every type.

    LiteRT cuts an int32 down to its low byte where NNAPI saturates, so it is brought into range before.
    """
    source, output = step.tensor(0), step.output()
    if step.operand(0).type == step.result().type:
        shape = list(step.dimensions(0))
        step.graph.emit("RESHAPE", [source, step.integers(shape)], output, "Reshape", newShape=shape)
        return
    if step.is_type(0, OperandType.TENSOR_INT32) and step.result().type == OperandType.TENSOR_QUANT8_ASYMM:
        source = _clamped(step, source, 0, 255)
    types, tensors = schema().TensorType, step.graph.tensors
    step.graph.emit(
        "CAST",
        [source],
        output,
        "Cast",
        inDataType=getattr(types, tensors[source].dtype.upper()),
        outDataType=getattr(types, tensors[output].dtype.upper()),
    )


def _clamped(step: Step, source: int, low: int, high: int) -> int:
    for builtin, bound in (("MAXIMUM", low), ("MINIMUM", high)):
        bounded = step.like(source)
        step.graph.emit(builtin, [source, step.integers([bound])], bounded, "MaximumMinimum")
        source = bounded
    return source
