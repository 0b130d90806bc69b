"""Rules of PAD: real zeros before and after each dimension."""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, padding, quantization
from npu_conformance.specs.versions import Version


def _zero_point(view: OperationView) -> str | None:
    zero_point = view.operand("input").zero_point
    if zero_point == 0 or view.version >= Version.V1_2:
        return None
    return f"zero point {zero_point} needs HAL 1.2, not {view.version}"


RULES = rules(
    "PAD",
    padding.padded,
    general.ranks("C1"),
    padding.paddings_shape("C2"),
    padding.not_negative("C3"),
    clause("C4", "model", "Before 1.2 the zero point is 0.", _zero_point),
    general.empty("C5"),
    general.declared_outputs("C6", padding.padded),
    quantization.same_as_input("C7"),
)
