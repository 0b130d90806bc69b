"""QUANTIZE, DEQUANTIZE, CAST."""

from __future__ import annotations

from npu_conformance.adapters.litert_runtime import schema
from npu_conformance.adapters.lowering.context import Step


def quantize(step: Step) -> None:
    """QUANTIZE."""
    step.graph.emit("QUANTIZE", [step.tensor(0)], step.output(), "Quantize")


def dequantize(step: Step) -> None:
    """DEQUANTIZE, also of per-channel values."""
    step.graph.emit("DEQUANTIZE", [step.tensor(0)], step.output(), "Dequantize")


def cast(step: Step) -> None:
    """CAST of stored values; to the same type a copy, which RESHAPE makes of every type."""
    source, output = step.tensor(0), step.output()
    if step.operand(0).type == step.result().type:
        shape = list(step.dimensions(0))
        step.graph.emit("RESHAPE", [source, step.integers(shape)], output, "Reshape", newShape=shape)
        return
    types, tensors = schema().TensorType, step.graph.tensors
    step.graph.emit(
        "CAST",
        [source],
        output,
        "Cast",
        inDataType=getattr(types, tensors[source].dtype.upper()),
        outDataType=getattr(types, tensors[output].dtype.upper()),
    )
