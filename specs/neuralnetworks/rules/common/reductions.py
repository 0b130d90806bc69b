"""What MEAN and the REDUCE operations share: axes that go away or stay with size 1."""

from collections.abc import Collection

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Clause, Rules, Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general


def output_shapes(view: OperationView) -> Shapes:
    """The input's shape without the axes, or with 1 in their places; [1] where every axis goes."""
    dimensions, axes, keep = view.dimensions("input"), view.integers("axes"), view.integer("keep_dims")
    if dimensions is None or axes is None or keep is None or _check_axes(view) is not None:
        return (None,)
    reduced = {general.wrapped(axis, len(dimensions)) for axis in axes}
    if keep > 0:
        return (tuple(1 if axis in reduced else size for axis, size in enumerate(dimensions)),)
    return (tuple(size for axis, size in enumerate(dimensions) if axis not in reduced) or (1,),)


def reduction(name: str, *more: Clause, text_alone: Collection[str] = ()) -> Rules:
    """The rules of MEAN or a REDUCE operation. more: clauses from C5 on, of those with quantised types.

    text_alone: see `rules`.
    """
    return rules(
        name,
        output_shapes,
        general.ranks("C1"),
        clause("C2", "execution", "The axes exist in the input, counted from either end.", _check_axes),
        general.empty("C3"),
        general.declared_outputs("C4", output_shapes),
        *more,
        text_alone=text_alone,
    )


def _check_axes(view: OperationView) -> str | None:
    dimensions = view.dimensions("input")
    if dimensions is None:
        return None
    for axis in view.integers("axes") or ():
        if general.wrapped(axis, len(dimensions)) is None:
            return f"axis {axis} does not exist in rank {len(dimensions)}"
    return None
