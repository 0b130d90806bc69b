"""Rules of EXPAND_DIMS: an axis of size 1 is put in."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization


def _place(view: OperationView) -> int | None:
    """Where the new axis is in the output; None where that is unknown or nowhere."""
    dimensions, axis = view.dimensions("input"), view.integer("axis")
    return None if dimensions is None or axis is None else general.wrapped(axis, len(dimensions) + 1)


def _output_shapes(view: OperationView) -> Shapes:
    dimensions, place = view.dimensions("input") or (), _place(view)
    return (None if place is None else (*dimensions[:place], 1, *dimensions[place:]),)


def _axis(view: OperationView) -> str | None:
    dimensions, axis = view.dimensions("input"), view.integer("axis")
    if dimensions is None or axis is None or _place(view) is not None:
        return None
    return f"axis {axis} is not in an output that has one more than {len(dimensions)}"


RULES = rules(
    "EXPAND_DIMS",
    _output_shapes,
    clause("C1", "execution", "The axis exists in the output, counted from either end.", _axis),
    general.empty("C2"),
    general.declared_outputs("C3", _output_shapes),
    quantization.same_as_input("C4"),
)
