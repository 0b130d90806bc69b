"""What a rules module is made of."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from npu_conformance.specs.neuralnetworks.operation_view import Dimensions, OperationView

Phase = Literal["model", "execution"]
Basis = Literal["both", "text", "reference"]
Check = Callable[[OperationView], str | None]
Shape = Dimensions | None
Shapes = Sequence[Shape]
ShapeRule = Callable[[OperationView], Shapes]


class Clause(msgspec.Struct, frozen=True):
    """One rule of an operation.

    id: `CONV_2D.C5`, never reused. text: the rule in a sentence. phase: `model` where the declared operands alone
    decide, `execution` where shapes or values do, which a model may leave open until then.
    basis: who asks for it. `both` is what every device must reject; `text` only the documents (Android's own CPU
    implementation computes something), `reference` only that implementation (the documents do not forbid it).
    check: returns what is wrong, or None. Whatever is unknown is no violation.
    """

    id: str
    text: str
    phase: Phase
    check: Check
    basis: Basis = "both"


class Rules(msgspec.Struct, frozen=True):
    """The clauses of an operation and how to compute the shapes of its outputs (None is an unknown rank).

    reads_data: whether a clause looks at values of tensors that are not parameters, such as coordinates of boxes, so
    that operands of the same shapes need another check.
    """

    clauses: tuple[Clause, ...]
    output_shapes: ShapeRule
    reads_data: bool = False


def clause(number: str, phase: Phase, text: str, check: Check, basis: Basis = "both") -> Clause:
    """Make a clause; `rules` puts the operation's name before its number."""
    return Clause(number, text, phase, check, basis)


def rules(name: str, output_shapes: ShapeRule, *clauses: Clause, reads_data: bool = False) -> Rules:
    """Make the rules of an operation. output_shapes is total: None where shapes or values do not fit together."""
    named = tuple(Clause(f"{name}.{one.id}", one.text, one.phase, one.check, one.basis) for one in clauses)
    return Rules(named, output_shapes, reads_data)
