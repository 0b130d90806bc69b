"""Rules of REVERSE: one axis in the opposite order."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization, shapes


def _single(view: OperationView) -> str | None:
    wrong = [size for size in view.dimensions("axis") or () if size not in (None, 1)]
    return f"there are {wrong[0]} axes" if wrong else None


def _exists(view: OperationView) -> str | None:
    dimensions = view.dimensions("input")
    for axis in view.integers("axis") or ():
        if dimensions is not None and not 0 <= axis < len(dimensions):
            return f"axis {axis} does not exist in rank {len(dimensions)}"
    return None


RULES = rules(
    "REVERSE",
    shapes.same_as_input,
    general.ranks("C1"),
    clause("C2", "execution", "There is one axis.", _single),
    clause("C3", "execution", "The axis exists in the input; it is not negative.", _exists),
    general.empty("C4"),
    general.declared_outputs("C5", shapes.same_as_input),
    quantization.same_as_input("C6"),
)
