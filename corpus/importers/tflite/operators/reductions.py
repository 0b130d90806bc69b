"""MEAN, the reductions, ARG_MAX, ARG_MIN and TOPK_V2."""

from __future__ import annotations

from collections.abc import Callable

from npu_conformance.corpus.importers.tflite.errors import Unsupported
from npu_conformance.corpus.importers.tflite.step import Step, same_quantization
from npu_conformance.corpus.vectors import VectorOperand
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

_TAKES_QUANTIZED = ("MEAN", "REDUCE_MAX", "REDUCE_MIN")


def reduction(operation: str) -> Callable[[Step], None]:
    """MEAN and what reduces. A quantised one that NNAPI has not, or not from one scale to another, is one of floats."""

    def translate(step: Step) -> None:
        source, result = step.operand(0), step.result()
        is_quantized = OPERAND_TYPES[source.type].is_quantized
        if is_quantized and not (operation in _TAKES_QUANTIZED and same_quantization(source, result)):
            real = VectorOperand(OperandType.TENSOR_FLOAT32, result.dimensions)
            reduced = step.emit(operation, [step.dequantized(step.name(0)), *_parameters(step, operation)], real)
            step.apply("QUANTIZE", [reduced])
            return
        step.apply(operation, [step.name(0), *_parameters(step, operation)])

    return translate


def _parameters(step: Step, operation: str) -> list[str]:
    keeps = bool(step.operator.option("KeepDims"))
    rank = len(step.tensor(0).shape) or 1
    axes = sorted({axis + rank if -rank <= axis < 0 else axis for axis in step.integers(1)})
    return [step.vector(axes), step.int32(keeps) if operation == "MEAN" else step.boolean(keeps)]


def argument(operation: str) -> Callable[[Step], None]:
    """ARGMAX and ARGMIN."""

    def translate(step: Step) -> None:
        step.apply(operation, [step.name(0), step.int32(step.integer(1))])

    return translate


def topk_v2(step: Step) -> None:
    """TOPK_V2."""
    step.apply("TOPK_V2", [step.name(0), step.int32(step.integer(1))])


def fill(step: Step) -> None:
    """FILL with a constant; anything else is no scalar to NNAPI."""
    value, result = step.constant(1), step.result()
    if value.size != 1 or (result.type is OperandType.TENSOR_INT32) != (value.dtype.kind == "i"):
        raise Unsupported(f"it fills {result.type.name} with {value.size} elements of {value.dtype.name}")
    if result.type is OperandType.TENSOR_INT32:
        scalar = step.int32(int(value.item()))
    else:
        scalar = step.real(float(value.item()), result)
    step.apply("FILL", [step.vector(step.integers(0)), scalar])
