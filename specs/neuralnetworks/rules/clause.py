"""What a rules module is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from npu_conformance.specs.neuralnetworks.operation_view import Dimensions, OperationView

Phase = Literal["model", "execution"]
Check = Callable[[OperationView], str | None]
Shape = Dimensions | None
ShapeRule = Callable[[OperationView], Sequence[Shape]]


@dataclass(frozen=True)
class Clause:
    """One rule of an operation.

    id: `CONV_2D.C5`, never reused. text: the rule in a sentence. phase: `model` where the declared operands alone
    decide, `execution` where shapes or values do, which a model may leave open until then.
    check: returns what is wrong, or None. Whatever is unknown is no violation.
    """

    id: str
    text: str
    phase: Phase
    check: Check


@dataclass(frozen=True)
class Rules:
    """The clauses of an operation and how to compute the shapes of its outputs (None is an unknown rank)."""

    clauses: tuple[Clause, ...]
    output_shapes: ShapeRule


def rules(name: str, output_shapes: ShapeRule, *clauses: tuple[str, Phase, str, Check]) -> Rules:
    """Make the rules of an operation from rows of number (`C1`), phase, text and check."""
    made = tuple(Clause(f"{name}.{number}", text, phase, check) for number, phase, text, check in clauses)
    return Rules(made, output_shapes)
