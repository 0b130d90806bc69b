"""Rules of CONCATENATION: inputs joined along one axis, which is the last argument."""

from npu_conformance.specs.neuralnetworks.operation_view import Dimensions, OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general
from npu_conformance.specs.neuralnetworks.rules.common.quantization import is_quantized
from npu_conformance.specs.versions import Version


def _tensors(view: OperationView) -> list[Dimensions | None]:
    return [view.dimensions(position) for position in range(view.input_count - 1)]


def _known(view: OperationView) -> list[Dimensions]:
    return [dimensions for dimensions in _tensors(view) if dimensions is not None]


def _output_shapes(view: OperationView) -> Shapes:
    known, axis = _known(view), view.integer("axis")
    if not known or _shapes(view) is not None:
        return (None,)
    rank = len(known[0])
    if axis is None or not 0 <= axis < rank:
        return ((None,) * rank,)
    sizes = [next((shape[place] for shape in known if shape[place] is not None), None) for place in range(rank)]
    parts = [None if shape is None else shape[axis] for shape in _tensors(view)]
    sizes[axis] = None if None in parts else sum(part for part in parts if part is not None)
    return (tuple(sizes),)


def _shapes(view: OperationView) -> str | None:
    known, axis = _known(view), view.integer("axis")
    for shape in known[1:]:
        if len(shape) != len(known[0]):
            return f"ranks of {list(known[0])} and {list(shape)} differ"
    for place in range(len(known[0]) if known and axis is not None else 0):
        sizes = {shape[place] for shape in known} - {None}
        if place != axis and len(sizes) > 1:
            return f"sizes {sorted(size or 0 for size in sizes)} of dimension {place} differ"
    return None


def _quantization(view: OperationView) -> str | None:
    output = view.outputs[0]
    if view.version >= Version.V1_2 or not is_quantized(output):
        return None
    for position in range(view.input_count - 1):
        given = view.operand(position)
        if (given.scale, given.zero_point) != (output.scale, output.zero_point):
            return f"input {position} has another scale or zero point than the output"
    return None


def _axis(view: OperationView) -> str | None:
    known, axis = _known(view), view.integer("axis")
    if axis is None or not known or 0 <= axis < len(known[0]):
        return None
    return f"axis {axis} does not exist in rank {len(known[0])}"


RULES = rules(
    "CONCATENATION",
    _output_shapes,
    general.ranks("C1"),
    clause("C2", "execution", "The axis exists in the inputs; it is not negative.", _axis),
    clause("C3", "execution", "Inputs have the same rank and sizes, but for the axis.", _shapes),
    clause("C4", "model", "Before 1.2 quantised inputs have the scale and zero point of the output.", _quantization),
    general.empty("C5"),
    general.declared_outputs("C6", _output_shapes),
)
