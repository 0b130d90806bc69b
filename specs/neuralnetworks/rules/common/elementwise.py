"""The rules that element-wise operations share."""

from collections.abc import Collection

from npu_conformance.specs.neuralnetworks.rules.clause import Clause, Rules, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes


def unary(name: str, *more: Clause) -> Rules:
    """The rules of an operation of one tensor of any rank. more: clauses from C3 on."""
    return rules(
        name, shapes.same_as_input, general.empty("C1"), general.declared_outputs("C2", shapes.same_as_input), *more
    )


def unary_of_ranks(name: str, *more: Clause) -> Rules:
    """The rules of an operation of one tensor whose rank is limited. more: clauses from C4 on."""
    return rules(
        name,
        shapes.same_as_input,
        general.ranks("C1"),
        general.empty("C2"),
        general.declared_outputs("C3", shapes.same_as_input),
        *more,
    )


def binary(name: str) -> Rules:
    """The rules of an operation of two tensors that broadcast."""
    return rules(
        name,
        shapes.broadcast_inputs,
        shapes.broadcastable("C1"),
        general.empty("C2"),
        general.declared_outputs("C3", shapes.broadcast_inputs),
    )


def arithmetic(name: str, *more: Clause, text_alone: Collection[str] = ()) -> Rules:
    """The rules of an operation of two tensors that broadcast, with an activation. more: clauses from C7 on.

    text_alone: see `rules`.
    """
    return rules(
        name,
        shapes.broadcast_inputs,
        shapes.broadcastable("C1"),
        general.ranks("C2"),
        general.activation("C3"),
        general.integer_activation("C4"),
        general.empty("C5"),
        general.declared_outputs("C6", shapes.broadcast_inputs),
        *more,
        text_alone=text_alone,
    )
