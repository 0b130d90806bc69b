"""Rules of GATHER: slices along an axis, chosen by indices."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization, rows


def _place(view: OperationView) -> int | None:
    dimensions, axis = view.dimensions("input"), view.integer("axis")
    return None if dimensions is None or axis is None else general.wrapped(axis, len(dimensions))


def _output_shapes(view: OperationView) -> Shapes:
    dimensions, indices, place = view.dimensions("input"), view.dimensions("indices"), _place(view)
    if dimensions is None or indices is None or place is None:
        return (None,)
    return ((*dimensions[:place], *indices, *dimensions[place + 1 :]),)


def _range(view: OperationView) -> str | None:
    dimensions, place = view.dimensions("input"), _place(view)
    return None if dimensions is None or place is None else rows.outside(view, "indices", dimensions[place])


RULES = rules(
    "GATHER",
    _output_shapes,
    general.axis("C1", "axis", negative=True),
    clause("C2", "execution", "Each index is within the axis; it is not negative.", _range),
    general.empty("C3"),
    general.declared_outputs("C4", _output_shapes),
    quantization.same_as_input("C5", "text"),
)
