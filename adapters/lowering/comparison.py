"""EQUAL, NOT_EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, LOGICAL_AND, LOGICAL_OR, LOGICAL_NOT.

TENSOR_BOOL8 flows through the graph as bytes; LiteRT's kernels want and give its own bool.
"""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.elementwise import check_broadcast
from npu_conformance.adapters.lowering.graph import Tensor
from npu_conformance.specs.neuralnetworks.enums import OperandType


def equal(step: Step) -> None:
    """EQUAL with broadcasting."""
    _compare(step, "EQUAL", "Equal")


def not_equal(step: Step) -> None:
    """NOT_EQUAL with broadcasting."""
    _compare(step, "NOT_EQUAL", "NotEqual")


def greater(step: Step) -> None:
    """GREATER with broadcasting."""
    _compare(step, "GREATER", "Greater")


def greater_equal(step: Step) -> None:
    """GREATER_EQUAL with broadcasting."""
    _compare(step, "GREATER_EQUAL", "GreaterEqual")


def less(step: Step) -> None:
    """LESS with broadcasting."""
    _compare(step, "LESS", "Less")


def less_equal(step: Step) -> None:
    """LESS_EQUAL with broadcasting."""
    _compare(step, "LESS_EQUAL", "LessEqual")


def logical_and(step: Step) -> None:
    """LOGICAL_AND with broadcasting."""
    check_broadcast(step)
    _emit(step, "LOGICAL_AND", [step.cast(step.tensor(position), "bool") for position in (0, 1)], "LogicalAnd")


def logical_or(step: Step) -> None:
    """LOGICAL_OR with broadcasting."""
    check_broadcast(step)
    _emit(step, "LOGICAL_OR", [step.cast(step.tensor(position), "bool") for position in (0, 1)], "LogicalOr")


def logical_not(step: Step) -> None:
    """LOGICAL_NOT."""
    _emit(step, "LOGICAL_NOT", [step.cast(step.tensor(0), "bool")], "LogicalNot")


def _compare(step: Step, builtin: str, options: str) -> None:
    check_broadcast(step)
    _emit(step, builtin, [_comparable(step, position) for position in (0, 1)], options)


def _comparable(step: Step, position: int) -> int:
    """Quantised values as float32: LiteRT compares them in steps of 1/256, and takes no scale of 1. Bytes as int32."""
    number = step.tensor(position)
    if step.is_type(position, OperandType.TENSOR_BOOL8):
        return step.cast(number, "int32")
    return step.dequantized(number)


def _emit(step: Step, builtin: str, operands: Sequence[int], options: str) -> None:
    verdict = step.graph.add(Tensor("bool"))
    step.graph.emit(builtin, operands, verdict, options)
    step.bind(step.cast(verdict, "uint8"))
