"""Arithmetic, comparisons and logic, element by element."""

from __future__ import annotations

from collections.abc import Callable

from npu_conformance.corpus.importers.tflite.errors import Unsupported
from npu_conformance.corpus.importers.tflite.step import Step
from npu_conformance.corpus.vectors import VectorOperand
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES


def arithmetic(operation: str) -> Callable[[Step], None]:
    """ADD, SUB, MUL and DIV: with a fused activation."""

    def translate(step: Step) -> None:
        step.activated(operation, [step.name(0), step.name(1)])

    return translate


def plain(operation: str) -> Callable[[Step], None]:
    """An operation that takes the operator's inputs and no options."""

    def translate(step: Step) -> None:
        step.apply(operation, step.names())

    return translate


def square(step: Step) -> None:
    """SQUARE: the product of the input with itself."""
    step.apply("MUL", [step.name(0), step.name(0), step.int32(0)])


def squared_difference(step: Step) -> None:
    """SQUARED_DIFFERENCE. A quantised one is one of floats, since no file says how its difference is quantised."""
    names, between = [step.name(0), step.name(1)], step.result()
    is_quantized = OPERAND_TYPES[between.type].is_quantized
    if is_quantized:
        names = [step.dequantized(name) for name in names]
        between = VectorOperand(OperandType.TENSOR_FLOAT32, between.dimensions)
    difference = step.emit("SUB", [*names, step.int32(0)], between)
    factors = [difference, difference, step.int32(0)]
    if is_quantized:
        step.apply("QUANTIZE", [step.emit("MUL", factors, between)])
    else:
        step.apply("MUL", factors)


def add_n(step: Step) -> None:
    """ADD_N: one ADD after the other."""
    names = step.names()
    if len(names) < 2:
        raise Unsupported(f"it adds {len(names)} tensors")
    total, *others, last = names
    for name in others:
        total = step.emit("ADD", [total, name, step.int32(0)], step.result())
    step.apply("ADD", [total, last, step.int32(0)])


def select(step: Step) -> None:
    """SELECT and SELECT_V2, as far as they do not broadcast."""
    step.apply("SELECT", step.names())
