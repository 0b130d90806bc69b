"""Rules of SELECT: elements of one tensor or of another, as a condition says. All three quantisations may differ."""

from itertools import combinations

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

_INPUTS = (0, 1, 2)
"""Condition and both inputs."""


def _output_shapes(view: OperationView) -> Shapes:
    """The shape of all three inputs, put together from what is known of each."""
    known = [shape for shape in map(view.dimensions, _INPUTS) if shape is not None]
    if not known or view.once(_different_shapes):
        return (None,)
    return (tuple(next(filter(None, sizes), None) for sizes in zip(*known, strict=True)),)


def _different_shapes(view: OperationView) -> str | None:
    for one, other in combinations(_INPUTS, 2):
        first, second = view.dimensions(one), view.dimensions(other)
        if first is not None and second is not None and not shapes.agree(first, second):
            return f"input {one} has dimensions {list(first)}, input {other} {list(second)}"
    return None


RULES = rules(
    "SELECT",
    _output_shapes,
    clause(
        "C1",
        "execution",
        "Condition and both inputs have the same shape: nothing is broadcast.",
        lambda view: view.once(_different_shapes),
    ),
    general.empty("C2"),
    general.declared_outputs("C3", _output_shapes),
)
