"""Rules of EXAMPLE_CLAMP: each element, moved to the nearest of two limits where it lies outside of them."""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes


def _check_limits(view: OperationView) -> str | None:
    low, high = view.real("low"), view.real("high")
    if low is None or high is None or low <= high:
        return None
    return f"low is {low}, high is {high}"


RULES = rules(
    "EXAMPLE_CLAMP",
    shapes.same_as_input,
    clause("C1", "execution", "Low is not greater than high, and neither is NaN.", _check_limits),
    general.declared_outputs("C2", shapes.same_as_input),
)
