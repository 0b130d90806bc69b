"""What ARGMAX and ARGMIN share: one index for each slice along an axis."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes
from npu_conformance.specs.neuralnetworks.rules.common import general


def output_shapes(view: OperationView) -> Shapes:
    """The shape of the input without the axis; [1] of an input of rank 1."""
    dimensions, axis = view.dimensions("input"), view.integer("axis")
    if dimensions is None or axis is None:
        return (None,)
    place = general.wrapped(axis, len(dimensions))
    if place is None:
        return (None,)
    return ((*dimensions[:place], *dimensions[place + 1 :]) or (1,),)
