"""Shapes of element-wise operations."""

from npu_conformance.specs.neuralnetworks.operation_view import Dimensions, OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Clause, Shape, Shapes, clause


def same_as_input(view: OperationView) -> Shapes:
    """The output has the shape of input 0."""
    return (view.dimensions(0),)


def broadcast_inputs(view: OperationView) -> Shapes:
    """The output has the shape of inputs 0 and 1 broadcast."""
    one, other = view.dimensions(0), view.dimensions(1)
    return (None,) if one is None or other is None else (broadcast(one, other),)


def broadcastable(number: str) -> Clause:
    """The clause that inputs 0 and 1 broadcast."""
    text = "Aligned at the last dimension, sizes of the two inputs are equal or one of them is 1."
    return clause(number, "execution", text, _check_broadcast)


def broadcast(one: Dimensions, other: Dimensions) -> Shape:
    """Return the broadcast shape (an unknown size beside 1 stays unknown); None where the two do not fit."""
    if one == other:
        return one
    if len(one) < len(other):
        one, other = other, one
    padded = (1,) * (len(one) - len(other)) + tuple(other)
    result = []
    for first, second in zip(one, padded, strict=True):
        if first is not None and second is not None and first != second and 1 not in (first, second):
            return None
        result.append(_broadcast_size(first, second))
    return tuple(result)


def differ(one: int | None, other: int | None) -> bool:
    """True for two sizes that are known and not equal."""
    return one is not None and other is not None and one != other


def agree(one: Dimensions, other: Dimensions) -> bool:
    """True where two shapes may be the same: of the same rank, with no two known sizes that differ."""
    return len(one) == len(other) and not any(map(differ, one, other))


def _broadcast_size(first: int | None, second: int | None) -> int | None:
    if first == 1:
        return second
    return second if first is None and second != 1 else first


def _check_broadcast(view: OperationView) -> str | None:
    one, other = view.dimensions(0), view.dimensions(1)
    if one is None or other is None or view.once(broadcast_inputs) != (None,):
        return None
    return f"{list(one)} and {list(other)} do not broadcast"
