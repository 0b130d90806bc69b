"""Checks of scales and zero points."""

import math
import struct

from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Basis, Clause, clause
from npu_conformance.specs.neuralnetworks.types import Operand
from npu_conformance.specs.versions import Version

BIAS_TOLERANCE = 1e-6
"""How far, relative to the smaller one, the scale of a bias may be from the product of the two scales."""


def is_quantized(operand: Operand) -> bool:
    """True for an operand whose integers stand for real values."""
    info = OPERAND_TYPES.get(operand.type)
    return info is not None and info.is_quantized


def same_as_input(number: str, basis: Basis = "both") -> Clause:
    """The clause that outputs keep scale and zero point of input 0."""
    text = "Quantised outputs have the scale and zero point of the input."
    return clause(number, "model", text, _check_same, basis)


def same_as(number: str, name: str) -> Clause:
    """The clause that output 0 keeps scale and zero point of an input."""
    text = f"A quantised output has the scale and zero point of the {name}."

    def check(view: OperationView) -> str | None:
        given, output = view.operand(name), view.outputs[0]
        if not is_quantized(given) or (output.scale, output.zero_point) == (given.scale, given.zero_point):
            return None
        found = f"scale {output.scale} and zero point {output.zero_point}"
        return f"the output has {found}, the {name} {given.scale} and {given.zero_point}"

    return clause(number, "model", text, check)


def fixed_output(number: str, scale: float, unsigned: int, signed: int) -> Clause:
    """The clause that the quantised output has one certain scale and zero point."""
    text = f"A quantised output has scale 1/{round(1 / scale)} and zero point {unsigned} (signed {signed})."
    expected = {OperandType.TENSOR_QUANT8_ASYMM: unsigned, OperandType.TENSOR_QUANT8_ASYMM_SIGNED: signed}

    def check(view: OperationView) -> str | None:
        output = view.outputs[0]
        zero_point = expected.get(output.type)  # type: ignore[call-overload]
        if zero_point is None or (output.scale == scale and output.zero_point == zero_point):
            return None
        return f"output has scale {output.scale} and zero point {output.zero_point}, expected {scale} and {zero_point}"

    return clause(number, "model", text, check)


def bias_scale(number: str, filter_name: str) -> Clause:
    """The clause about the scale of a TENSOR_INT32 bias."""
    text = "A quantised bias has the scale of the input times that of the filter; 0 with per-channel scales."
    return clause(number, "model", text, lambda view: _check_bias(view, filter_name))


def output_scale(number: str, filter_name: str) -> Clause:
    """The clause that bounds the output scale below before 1.2."""
    text = "Before 1.2 a quantised output has a scale greater than that of the input times that of the filter."
    return clause(number, "model", text, lambda view: _check_output_scale(view, filter_name), "text")


def channel_dimension(number: str, expected: int) -> Clause:
    """The clause about the dimension along which a filter has its scales."""
    text = f"Per-channel scales of the filter run along dimension {expected}."

    def check(view: OperationView) -> str | None:
        extra = view.operand("filter").extra_params
        quant = extra.channel_quant if extra is not None else None
        if quant is None or quant.channel_dim == expected:
            return None
        return f"the filter has its scales along dimension {quant.channel_dim}, expected {expected}"

    return clause(number, "model", text, check)


def as_float32(value: float) -> float:
    """The value as a device holds it that computes in float32; infinity where it is beyond the largest one."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def scale_product(one: Operand, other: Operand) -> float:
    """The product of two scales, rounded to float32 as where AOSP compares it."""
    return as_float32(one.scale * other.scale)


def _check_same(view: OperationView) -> str | None:
    given = view.operand(0)
    if not is_quantized(given):
        return None
    for position, output in enumerate(view.outputs):
        if is_quantized(output) and (output.scale, output.zero_point) != (given.scale, given.zero_point):
            found = f"scale {output.scale} and zero point {output.zero_point}"
            return f"output {position} has {found}, the input {given.scale} and {given.zero_point}"
    return None


def _check_bias(view: OperationView, filter_name: str) -> str | None:
    bias, given, weights = view.operand("bias"), view.operand("input"), view.operand(filter_name)
    if not is_quantized(given):
        return None
    if weights.type == OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL:
        return None if bias.scale == 0 else f"bias scale {bias.scale} beside per-channel scales must be 0"
    product = given.scale * weights.scale
    if math.isfinite(product) and abs(bias.scale - product) <= BIAS_TOLERANCE * min(bias.scale, product):
        return None
    return f"bias scale {bias.scale}, expected {given.scale} * {weights.scale}"


def _check_output_scale(view: OperationView, filter_name: str) -> str | None:
    given, weights, output = view.operand("input"), view.operand(filter_name), view.outputs[0]
    if view.version >= Version.V1_2 or not is_quantized(given) or output.scale > scale_product(given, weights):
        return None
    return f"output scale {output.scale} must be greater than {given.scale} * {weights.scale}"
