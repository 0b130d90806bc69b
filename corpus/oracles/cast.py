"""CAST: the stored elements converted, whatever their scale and zero point (hazard cast-stored-values)."""

import math

from npu_conformance.corpus.oracles.base import Inputs, OracleOperand, Outputs, Result, clamp, present, rounded_float
from npu_conformance.specs.neuralnetworks.enums import OperandType


def cast(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: one tensor. To quant8 towards zero, then saturated; to int32 towards zero; to floats to the nearest."""
    source, output = present(inputs[0]), outputs[0]
    return [Result(source.dimensions, [_converted(element, source, output) for element in source.raw])]


def _converted(element: int | float, source: OracleOperand, output: OracleOperand) -> int | float:
    if source.type is output.type:
        return element
    if output.type in (OperandType.TENSOR_FLOAT32, OperandType.TENSOR_FLOAT16):
        return rounded_float(element, output.type)
    return clamp(math.trunc(element), output.limits)
