"""Rules of SQUEEZE: dimensions of size 1 are taken away, the given ones or all."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization


def _output_shapes(view: OperationView) -> Shapes:
    dimensions = view.dimensions("input")
    if dimensions is None:
        return (None,)
    if not view.has("squeeze_dims"):
        if None in dimensions:
            return (None,)
        return (tuple(size for size in dimensions if size != 1) or (1,),)
    listed = view.integers("squeeze_dims")
    if listed is None or _exist(view) is not None:
        return (None,)
    taken = {general.wrapped(axis, len(dimensions)) for axis in listed}
    return (tuple(size for axis, size in enumerate(dimensions) if axis not in taken) or (1,),)


def _exist(view: OperationView) -> str | None:
    dimensions, listed = view.dimensions("input"), view.integers("squeeze_dims")
    for axis in listed or () if dimensions is not None else ():
        if general.wrapped(axis, len(dimensions or ())) is None:
            return f"dimension {axis} does not exist in rank {len(dimensions or ())}"
    return None


def _sizes(view: OperationView) -> str | None:
    dimensions, listed = view.dimensions("input"), view.integers("squeeze_dims")
    if dimensions is None or listed is None or _exist(view) is not None:
        return None
    wrong = [axis for axis in listed if dimensions[axis] not in (None, 1)]
    return f"dimension {wrong[0]} has size {dimensions[wrong[0]]}, expected 1" if wrong else None


RULES = rules(
    "SQUEEZE",
    _output_shapes,
    general.ranks("C1"),
    clause("C2", "execution", "The listed dimensions exist in the input.", _exist),
    clause("C3", "execution", "The listed dimensions have size 1.", _sizes),
    general.empty("C4"),
    general.declared_outputs("C5", _output_shapes),
    quantization.same_as_input("C6"),
)
