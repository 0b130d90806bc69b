"""Scripts of drivers, in the short form in which cases write them."""

from __future__ import annotations

from typing import Any

from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import (
    FOR_EVER,
    DriverScript,
    Misbehaviour,
    SupportedOperation,
)
from npu_conformance.specs.neuralnetworks.types import OperandPerformance, PerformanceInfo

FAST, MIDDLING, SLOW = 0.3, 0.5, 0.7
"""Execution times of drivers, each better than the CPU's 1.0."""

LISTED = tuple(kind for kind in sorted(OperandType) if kind < OperandType.SUBGRAPH)
"""The operand types that capabilities list."""

OperationName = str | tuple[str, int]
"""An operation, or one with a FusedActivation."""


def driver(name: str, *operations: OperationName, **fields: Any) -> DriverScript:
    """A driver that supports these operations alone, or everything where none is named."""
    supported = tuple(map(_supported, operations)) if operations else None
    return DriverScript(name, operations=supported, **fields)


def useless(name: str, **fields: Any) -> DriverScript:
    """A driver that supports nothing."""
    return DriverScript(name, operations=(), **fields)


def failing(method: str, status: int = ErrorStatus.GENERAL_FAILURE, *, first: int = 1, count: int = FOR_EVER) -> Any:
    """The field of a script whose method answers a status."""
    return {"misbehaviours": (Misbehaviour(method, "status", int(status), first, count),)}


def misbehaving(method: str, kind: str, *, first: int = 1, count: int = FOR_EVER, **fields: Any) -> Any:
    """The field of a script whose method fails in another way."""
    return {"misbehaviours": (Misbehaviour(method, kind, first=first, count=count, **fields),)}


def both(figure: float) -> PerformanceInfo:
    """The same figure for time and power."""
    return PerformanceInfo(figure, figure)


def per_type(default: float, **figures: float) -> tuple[OperandPerformance, ...]:
    """A figure for every operand type; named ones differ."""
    return tuple(OperandPerformance(int(kind), both(figures.get(kind.name, default))) for kind in LISTED)


def _supported(operation: OperationName) -> SupportedOperation:
    name, activation = (operation, None) if isinstance(operation, str) else operation
    return SupportedOperation(int(OperationType[name]), activation)


ADDS, MULTIPLIES = driver("adds", "ADD", exec_time=FAST), driver("multiplies", "MUL", exec_time=FAST)
"""Two that share a model between them; the CPU has the rest."""
