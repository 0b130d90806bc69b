"""Rules of TOPK_V2: the largest elements of each slice along the last axis, and where they are."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization


def _output_shapes(view: OperationView) -> Shapes:
    dimensions = view.dimensions("input")
    if dimensions is None or _count(view) is not None:
        return (None, None)
    return ((*dimensions[:-1], view.integer("k")),) * 2


def _count(view: OperationView) -> str | None:
    count, dimensions = view.integer("k"), view.dimensions("input")
    if count is None or dimensions is None:
        return None
    size = dimensions[-1]
    if count < 1 or (size is not None and count > size):
        return f"k {count} of a last dimension of {size}"
    return None


RULES = rules(
    "TOPK_V2",
    _output_shapes,
    clause("C1", "execution", "K is at least 1 and at most the size of the last dimension.", _count),
    general.empty("C2"),
    general.declared_outputs("C3", _output_shapes),
    quantization.same_as_input("C4"),
)
