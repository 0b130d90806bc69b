"""What a rules module is made of."""

from collections.abc import Callable, Collection, Sequence
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
    implementation computes something, and a device that does so, too, gets a warning), `reference` only that
    implementation, or this project's (the documents do not forbid it).
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


def rules(
    name: str, output_shapes: ShapeRule, *clauses: Clause, reads_data: bool = False, text_alone: Collection[str] = ()
) -> Rules:
    """Make the rules of an operation. output_shapes is total: None where shapes or values do not fit together.

    text_alone: numbers of shared clauses that Android's own implementation does not keep for this operation.
    """

    def named(one: Clause) -> Clause:
        basis: Basis = "text" if one.id in text_alone else one.basis
        return Clause(f"{name}.{one.id}", one.text, one.phase, one.check, basis)

    return Rules(tuple(map(named, clauses)), output_shapes, reads_data)
