"""Rules of FILL: a tensor whose sizes are the values of an input."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general


def _output_shapes(view: OperationView) -> Shapes:
    return (None if _negative(view) else view.integers("dims"),)


def _negative(view: OperationView) -> str | None:
    wrong = [size for size in view.integers("dims") or () if size < 0]
    return f"dims has a size of {wrong[0]}" if wrong else None


def _zero(view: OperationView) -> str | None:
    for size in view.integers("dims") or ():
        if size == 0:
            return "dims has a size of 0"
    return None


RULES = rules(
    "FILL",
    _output_shapes,
    general.ranks("C1"),
    clause("C2", "execution", "No element of dims is negative.", _negative),
    clause("C3", "execution", "No element of dims is 0.", _zero, "text"),
    general.declared_outputs("C4", _output_shapes),
)
