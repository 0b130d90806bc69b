"""Rules of SPLIT: equal slices along one axis."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization


def _output_shapes(view: OperationView) -> Shapes:
    dimensions, axis, count = view.dimensions("input"), view.integer("axis"), view.integer("num_splits")
    place = None if dimensions is None or axis is None else general.wrapped(axis, len(dimensions))
    if dimensions is None or place is None or count is None or count <= 0:
        unknown = None if dimensions is None else (None,) * len(dimensions)
        return (unknown,) * len(view.outputs)
    whole = dimensions[place]
    part = None if whole is None else whole // count
    return ((*dimensions[:place], part, *dimensions[place + 1 :]),) * len(view.outputs)


def _count(view: OperationView) -> str | None:
    count = view.integer("num_splits")
    if count is None or (count > 0 and count == len(view.outputs)):
        return None
    return f"num_splits {count} with {len(view.outputs)} outputs"


def _divides(view: OperationView) -> str | None:
    dimensions, axis, count = view.dimensions("input"), view.integer("axis"), view.integer("num_splits")
    place = None if dimensions is None or axis is None else general.wrapped(axis, len(dimensions))
    if dimensions is None or place is None or count is None or count <= 0:
        return None
    whole = dimensions[place]
    return f"{whole} elements in {count} equal parts" if whole is not None and whole % count else None


RULES = rules(
    "SPLIT",
    _output_shapes,
    general.axis("C1", "axis", negative=True),
    clause("C2", "execution", "The number of splits is greater than 0 and that of the outputs.", _count),
    clause("C3", "execution", "The number of splits divides the size of the axis.", _divides),
    general.empty("C4"),
    general.declared_outputs("C5", _output_shapes),
    quantization.same_as_input("C6"),
)
