"""Rules of PACK: tensors of one shape stacked along a new axis, which is the first argument."""

from npu_conformance.specs.neuralnetworks.operation_view import Dimensions, OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general
from npu_conformance.specs.neuralnetworks.rules.common.quantization import is_quantized

_FIRST = 1
"""Position of the first tensor."""


def _known(view: OperationView) -> list[Dimensions]:
    shapes = [view.dimensions(position) for position in range(_FIRST, view.input_count)]
    return [shape for shape in shapes if shape is not None]


def _output_shapes(view: OperationView) -> Shapes:
    known, axis = _known(view), view.integer("axis")
    if not known or axis is None or _shapes(view) is not None or _axis(view) is not None:
        return (None,)
    sizes = [next((size for size in column if size is not None), None) for column in zip(*known, strict=True)]
    return ((*sizes[:axis], view.input_count - _FIRST, *sizes[axis:]),)


def _axis(view: OperationView) -> str | None:
    known, axis = _known(view), view.integer("axis")
    if axis is None or not known or 0 <= axis <= len(known[0]):
        return None
    return f"axis {axis} does not exist in an output of rank {len(known[0]) + 1}"


def _shapes(view: OperationView) -> str | None:
    known = _known(view)
    for shape in known:
        if len(shape) != len(known[0]):
            return f"ranks of {list(known[0])} and {list(shape)} differ"
    for column in zip(*known, strict=True):
        sizes = set(column) - {None}
        if len(sizes) > 1:
            return f"sizes {sorted(size or 0 for size in sizes)} of one dimension differ"
    return None


def _quantization(view: OperationView) -> str | None:
    output = view.outputs[0]
    if not is_quantized(output):
        return None
    for position in range(_FIRST, view.input_count):
        given = view.operand(position)
        if (given.scale, given.zero_point) != (output.scale, output.zero_point):
            return f"input {position} has another scale or zero point than the output"
    return None


RULES = rules(
    "PACK",
    _output_shapes,
    clause("C1", "execution", "The axis exists in the output; it is not negative.", _axis),
    clause("C2", "execution", "Inputs have the same dimensions.", _shapes),
    clause("C3", "model", "Quantised inputs have the scale and zero point of the output.", _quantization),
    general.empty("C4"),
    general.declared_outputs("C5", _output_shapes),
)
