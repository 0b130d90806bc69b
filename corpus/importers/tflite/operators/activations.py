"""Activations by themselves, SOFTMAX and the normalisations."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from msgspec.structs import replace

from npu_conformance.corpus.importers.tflite.errors import Unsupported
from npu_conformance.corpus.importers.tflite.step import Step
from npu_conformance.corpus.vectors import VectorOperand
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES


def rectifier(operation: str) -> Callable[[Step], None]:
    """RELU and its relatives, which LiteRT may requantise."""

    def translate(step: Step) -> None:
        step.uniform(operation, [step.name(0)])

    return translate


def relu_0_to_1(step: Step) -> None:
    """RELU_0_TO_1: at least 0, at most 1."""
    result = step.result()
    ones = replace(result, dimensions=(1,) * len(result.dimensions))
    low, high = (step.filled(ones, _stored(ones, bound)) for bound in (0.0, 1.0))
    above = step.emit("MAXIMUM", [step.name(0), low], result)
    step.apply("MINIMUM", [above, high])


def _stored(operand: VectorOperand, value: float) -> float:
    if not OPERAND_TYPES[operand.type].is_quantized:
        return value
    limits = np.iinfo(OPERAND_TYPES[operand.type].dtype)
    return int(np.clip(round(value / operand.scale) + operand.zero_point, limits.min, limits.max))


def leaky_relu(step: Step) -> None:
    """LEAKY_RELU: PRELU with one slope for all. In a quantised one the slope is 1 in units of itself."""
    source, slope = step.operand(0), float(step.operator.option("Alpha", 0.0))
    if not math.isfinite(slope):
        raise Unsupported(f"its slope is {slope}")
    step.apply("PRELU", [step.name(0), _slope(step, source, slope)])


def _slope(step: Step, source: VectorOperand, slope: float) -> str:
    operand = VectorOperand(source.type, (1,) * len(source.dimensions))
    if not OPERAND_TYPES[source.type].is_quantized:
        return step.filled(operand, slope)
    zero_point = 1 if slope < 0 else 0
    operand = replace(operand, scale=float(np.float32(abs(slope))) or 1.0, zero_point=zero_point)
    return step.filled(operand, zero_point + int(np.sign(slope)))


def elu(step: Step) -> None:
    """ELU, whose alpha is 1."""
    step.apply("ELU", [step.name(0), step.real(1.0, step.operand(0))])


def softmax(step: Step) -> None:
    """SOFTMAX along the last axis."""
    step.apply("SOFTMAX", [step.name(0), step.real(step.operator.option("Beta", 0.0), step.operand(0))])


def log_softmax(step: Step) -> None:
    """LOG_SOFTMAX along the last axis."""
    step.apply("LOG_SOFTMAX", [step.name(0), step.real(1.0, step.operand(0)), step.int32(-1)])


def l2_normalization(step: Step) -> None:
    """L2_NORMALIZATION along the last axis."""
    step.and_activation("L2_NORMALIZATION", [step.name(0)])


def local_response_normalization(step: Step) -> None:
    """LOCAL_RESPONSE_NORMALIZATION along the last axis."""
    operand, option = step.operand(0), step.operator.option
    reals = [step.real(option(name), operand) for name in ("Bias", "Alpha", "Beta")]
    step.apply("LOCAL_RESPONSE_NORMALIZATION", [step.name(0), step.int32(option("Radius")), *reals])


def quantize(step: Step) -> None:
    """QUANTIZE; from one quantisation to another by way of float32."""
    source = step.operand(0)
    if source.type is OperandType.TENSOR_FLOAT32 or source.type is OperandType.TENSOR_FLOAT16:
        step.apply("QUANTIZE", [step.name(0)])
    else:
        step.deliver(step.name(0))


def dequantize(step: Step) -> None:
    """DEQUANTIZE; of float16, which is not quantised, CAST."""
    is_half = step.operand(0).type is OperandType.TENSOR_FLOAT16
    step.apply("CAST" if is_half else "DEQUANTIZE", [step.name(0)])


def cast(step: Step) -> None:
    """CAST of stored values."""
    if "BOOL" in (step.tensor(0).type, step.output().type) and step.tensor(0).type != step.output().type:
        raise Unsupported("NNAPI casts truth values to truth values alone")
    step.apply("CAST", [step.name(0)])
