"""Rules of TRANSPOSE: output dimension i is input dimension perm[i]; without perm they are reversed."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization


def _output_shapes(view: OperationView) -> Shapes:
    dimensions = view.dimensions("input")
    if dimensions is None:
        return (None,)
    if not view.has("perm"):
        return (tuple(reversed(dimensions)),)
    order = view.integers("perm")
    if order is None or _length(view) is not None or _range(view) is not None:
        return ((None,) * len(dimensions),)
    return (tuple(dimensions[axis] for axis in order),)


def _length(view: OperationView) -> str | None:
    dimensions, shape = view.dimensions("input"), view.dimensions("perm")
    if dimensions is None or shape is None or len(shape) != 1 or shape[0] in (None, len(dimensions)):
        return None
    return f"perm has {shape[0]} elements, the input rank {len(dimensions)}"


def _range(view: OperationView) -> str | None:
    dimensions, order = view.dimensions("input"), view.integers("perm") or ()
    wrong = [axis for axis in order if dimensions is not None and not 0 <= axis < len(dimensions)]
    return f"perm names dimension {wrong[0]}, which the input does not have" if wrong else None


def _unique(view: OperationView) -> str | None:
    order = view.integers("perm") or ()
    return f"perm {list(order)} names a dimension twice" if len(set(order)) != len(order) else None


def _omitted(view: OperationView) -> str | None:
    dimensions = view.dimensions("input")
    if view.has("perm") or dimensions is None or len(dimensions) == 2:
        return None
    return f"perm is omitted with rank {len(dimensions)}"


RULES = rules(
    "TRANSPOSE",
    _output_shapes,
    general.ranks("C1"),
    clause("C2", "execution", "Perm has one element for each dimension of the input.", _length),
    clause("C3", "execution", "The elements of perm are dimensions of the input, not negative.", _range),
    clause("C4", "execution", "Perm names each dimension once.", _unique, "text"),
    general.empty("C5"),
    general.declared_outputs("C6", _output_shapes),
    quantization.same_as_input("C7"),
    clause("C8", "execution", "Perm is omitted for rank 2 only.", _omitted, "reference"),
)
