"""Arithmetic, comparisons, logic, selection and functions of single elements."""

from __future__ import annotations

import numpy as np

from npu_conformance.adapters.onnx_lowering.context import Lower, Step
from npu_conformance.specs.neuralnetworks.enums import OperandType

INTEGER = OperandType.TENSOR_INT32


def arithmetic(operator: str) -> Lower:
    """ADD, SUB, MUL and DIV with broadcasting and a fused activation."""

    def lower(step: Step) -> None:
        is_integer = step.is_type(0, INTEGER)
        result = step.emit(operator, step.real(0), step.real(1))
        step.store(step.activated(result, step.activation(2), np.int32 if is_integer else np.float32))

    return lower


def div(step: Step) -> None:
    """DIV; of integers in float64, rounded down as NNAPI has it, since ONNX rounds towards zero."""
    if not step.is_type(0, INTEGER):
        arithmetic("Div")(step)
        return
    quotient = step.emit("Div", *(step.cast(step.real(position), np.float64) for position in (0, 1)))
    result = step.cast(step.emit("Floor", quotient), np.int32)
    step.store(step.activated(result, step.activation(2), np.int32))


def binary(operator: str) -> Lower:
    """Two inputs that broadcast each other, without an activation."""
    return lambda step: step.store(step.emit(operator, step.real(0), step.real(1)))


def comparison(operator: str, *, negated: bool = False) -> Lower:
    """Comparisons of values; BOOL8 by its bytes, which have an order."""

    def lower(step: Step) -> None:
        read = step.stored if step.is_type(0, OperandType.TENSOR_BOOL8) else step.real
        result = step.emit(operator, read(0), read(1))
        step.store(step.emit("Not", result) if negated else result)

    return lower


def unary(*operators: str) -> Lower:
    """Functions of one input, one after the other."""

    def lower(step: Step) -> None:
        name = step.real(0)
        for operator in operators:
            name = step.emit(operator, name)
        step.store(name)

    return lower


def bounded(activation: int) -> Lower:
    """RELU, RELU1, RELU6."""
    return lambda step: step.store(step.activated(step.real(0), activation))


def select(step: Step) -> None:
    """SELECT."""
    step.store(step.emit("Where", step.real(0), step.real(1), step.real(2)))


def prelu(step: Step) -> None:
    """PRELU, written out: ONNX's own broadcasts the slope only."""
    source, zero = step.real(0), step.number(0)
    scaled = step.emit("Mul", source, step.real(1))
    # Where the slope has the larger shape, the condition broadcasts with the rest.
    step.store(step.emit("Where", step.emit("Less", source, zero), scaled, source))


def elu(step: Step) -> None:
    """ELU; for an alpha below 0 by NNAPI's formula, max(0, x) + min(0, alpha * (e^x - 1)), which ONNX's is not then."""
    source, alpha = step.real(0), float(step.scalar(1))
    result = step.emit("Elu", source, alpha=alpha)
    if alpha < 0:
        power = step.emit("Sub", step.emit("Exp", source), step.number(1))
        low = step.emit("Min", step.emit("Mul", power, step.number(alpha)), step.number(0))
        result = step.emit("Add", step.emit("Relu", source), low)
    step.store(result)


def hard_swish(step: Step) -> None:
    """HARD_SWISH: a product with HardSigmoid."""
    source = step.real(0)
    step.store(step.emit("Mul", source, step.emit("HardSigmoid", source, alpha=1 / 6, beta=0.5)))


def cast(step: Step) -> None:
    """CAST of stored elements; what is narrower saturates."""
    name, kind = step.stored(0), OperandType(step.result().type)
    if step.is_type(0, OperandType.TENSOR_FLOAT16):
        name = step.cast(name, np.float32)
    if kind == OperandType.TENSOR_QUANT8_ASYMM and not step.is_type(0, kind):
        dtype = np.int32 if step.is_type(0, INTEGER) else np.float32
        name = step.clipped(name, 0, 255, dtype)
    step.bind(step.cast(name, _STORED[kind]) if kind in _STORED else step.emit("Identity", name))


_STORED = {
    OperandType.TENSOR_FLOAT32: np.float32,
    OperandType.TENSOR_FLOAT16: np.float16,
    OperandType.TENSOR_INT32: np.int32,
    OperandType.TENSOR_QUANT8_ASYMM: np.uint8,
}
"""The types that CAST converts to; to any other type it copies."""
