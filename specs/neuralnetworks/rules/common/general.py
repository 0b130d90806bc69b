"""Checks that nearly every operation has: ranks, empty inputs, activations, axes, declared outputs."""

from npu_conformance.specs.neuralnetworks.enums import FusedActivation, OperandType
from npu_conformance.specs.neuralnetworks.operation_view import Key, OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Basis, Check, Clause, ShapeRule, Shapes, clause
from npu_conformance.specs.versions import Version

RANKS = "Each input has a rank that the signature allows."
EMPTY = "No input is without elements, unless the version allows it for the operation."
ACTIVATION = "The fused activation is 0 (NONE), 1 (RELU), 2 (RELU1) or 3 (RELU6)."


def ranks(number: str) -> Clause:
    """The clause that compares ranks that are known late with the signature."""
    return clause(number, "execution", RANKS, _check_ranks)


def ranks_before_1_2(number: str, *allowed: int) -> Clause:
    """The clause about the ranks of input 0 that versions before 1.2 know."""
    text = f"Before 1.2 the input has rank {' or '.join(map(str, allowed))}."
    return clause(number, "execution", text, lambda view: _check_old_rank(view, allowed))


def positive(number: str, name: str, basis: Basis = "both") -> Clause:
    """The clause about a floating-point scalar greater than 0."""
    text = f"{name.capitalize()} is greater than 0."
    return clause(number, "execution", text, lambda view: _check_positive(view, name), basis)


def empty(number: str) -> Clause:
    """The clause about inputs with a dimension of 0, which no document forbids."""
    return clause(number, "execution", EMPTY, _check_empty, basis="reference")


def activation(number: str) -> Clause:
    """The clause about the fused activation code."""
    return clause(number, "execution", ACTIVATION, _check_activation)


def integer_activation(number: str) -> Clause:
    """The clause about activations of TENSOR_INT32."""
    text = "An operation on TENSOR_INT32 has no fused activation (0)."
    return clause(number, "execution", text, _check_integer_activation)


def declared_outputs(number: str, output_shapes: ShapeRule) -> Clause:
    """The clause that compares the declared dimensions of outputs with the computed ones."""
    text = "The declared dimensions of the outputs, where known, are the computed ones."
    return clause(number, "execution", text, _declared(output_shapes))


def axis(number: str, key: Key, *, negative: bool) -> Clause:
    """The clause about an axis of input 0. negative: whether it may count from the end."""
    text = "The axis exists in the input" + (", counted from either end." if negative else "; it is not negative.")
    return clause(number, "execution", text, lambda view: _check_axis(view, key, negative))


def unknown_outputs(view: OperationView) -> Shapes:
    """The shapes of outputs that only an execution finds."""
    return (None,) * len(view.outputs)


def wrapped(index: int, rank: int) -> int | None:
    """Return an axis that may count from the end as a position; None where it does not exist."""
    if not -rank <= index < rank:
        return None
    return index + rank if index < 0 else index


def _check_ranks(view: OperationView) -> str | None:
    for position, argument in view.reading.ranked:
        if argument.optional and view.is_given(position) is None:
            continue  # A request may leave it out; then its declared shape means nothing.
        dimensions = view.dimensions(position)
        if dimensions is not None and argument.rank is not None and len(dimensions) not in argument.rank:
            return f"{argument.name} has rank {len(dimensions)}, expected one of {list(argument.rank)}"
    return None


def _check_old_rank(view: OperationView, allowed: tuple[int, ...]) -> str | None:
    dimensions = view.dimensions(0)
    if dimensions is None or view.version >= Version.V1_2 or len(dimensions) in allowed:
        return None
    return f"rank {len(dimensions)} needs HAL 1.2, not {view.version}"


def _check_positive(view: OperationView, name: str) -> str | None:
    value = view.real(name)
    return f"{name} {value} must be greater than 0" if value is not None and value <= 0 else None


def _check_empty(view: OperationView) -> str | None:
    since = view.table.zero_sized_since
    # An empty list of axes is a legal one, so that parameters may be without elements.
    for position, argument in view.reading.data:
        if 0 not in (view.dimensions(position) or ()):
            continue
        if since is None or view.version < since or not argument.zero_sized:
            return f"{argument.name} has dimensions {list(view.dimensions(position) or ())}"
    return None


def _check_activation(view: OperationView) -> str | None:
    code = view.integer("activation")
    if code is None or code in FusedActivation.__members__.values():
        return None
    return f"activation {code} is not in 0..3"


def _check_integer_activation(view: OperationView) -> str | None:
    code = view.integer("activation")
    if view.operand(0).type == OperandType.TENSOR_INT32 and code:
        return f"activation {code} with TENSOR_INT32"
    return None


def _declared(output_shapes: ShapeRule) -> Check:
    def check(view: OperationView) -> str | None:
        for position, computed in enumerate(view.once(output_shapes)):
            if position >= len(view.outputs):
                continue
            declared = view.output_dimensions(position)
            if computed is None or declared is None:
                continue
            agrees = len(computed) == len(declared) and all(
                one is None or other is None or one == other for one, other in zip(computed, declared, strict=True)
            )
            if not agrees:
                return f"output {position} is declared {list(declared)}, computed {list(computed)}"
        return None

    return check


def _check_axis(view: OperationView, key: Key, negative: bool) -> str | None:
    index, dimensions = view.integer(key), view.dimensions(0)
    if index is None or dimensions is None:
        return None
    rank = len(dimensions)
    if (-rank if negative else 0) <= index < rank:
        return None
    return f"axis {index} does not exist in rank {rank}"
