"""BATCH_MATMUL."""

from __future__ import annotations

import math

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.operands import check_size
from npu_conformance.specs.neuralnetworks.enums import OperandType

TERMS = 2
"""The axis of [batch, rows, terms, columns] that is summed up."""


def batch_matmul(step: Step) -> None:
    """BATCH_MATMUL; of int32, which LiteRT does not have, products of all pairs (MUL) and their SUM."""
    turns = bool(step.scalar(2)), bool(step.scalar(3))
    if step.is_type(0, OperandType.TENSOR_INT32):
        _integers(step, turns)
        return
    factors = [step.tensor(0), step.tensor(1)]
    step.graph.emit("BATCH_MATMUL", factors, step.output(), "BatchMatMul", adjX=turns[0], adjY=turns[1])


def _integers(step: Step, turns: tuple[bool, bool]) -> None:
    first, second = (_turned(step, position, turns[position]) for position in (0, 1))
    batch, (rows, inner) = first[1][:-2], first[1][-2:]
    columns, count = second[1][-1], math.prod(batch)
    check_size((count, rows, inner, columns))
    left = step.reshaped(first[0], (count, rows, inner, 1))
    right = step.reshaped(second[0], (count, 1, inner, columns))
    products, sums = step.like(left), step.like(left)
    step.graph.emit("MUL", [left, right], products, "Mul", fusedActivationFunction=0)
    step.graph.emit("SUM", [products, step.integers([TERMS])], sums, "Reducer", keepDims=False)
    step.bind(step.reshaped(sums, (*batch, rows, columns)))


def _turned(step: Step, position: int, turned: bool) -> tuple[int, tuple[int, ...]]:
    """Return an input as the product reads it, and its shape."""
    number, dimensions = step.tensor(position), step.dimensions(position)
    if not turned:
        return number, dimensions
    order = [*range(len(dimensions) - 2), len(dimensions) - 1, len(dimensions) - 2]
    return step.transposed(number, order), tuple(dimensions[axis] for axis in order)
