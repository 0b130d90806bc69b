"""Rules of SOFTMAX: normalised exponentials along one axis."""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization, shapes
from npu_conformance.specs.versions import Version

_OLD_RANKS = (2, 4)


def _beta(view: OperationView) -> str | None:
    beta = view.real("beta")
    return f"beta {beta} must be greater than 0" if beta is not None and beta <= 0 else None


def _old_rank(view: OperationView) -> str | None:
    dimensions = view.dimensions("input")
    if dimensions is None or view.version >= Version.V1_2 or len(dimensions) in _OLD_RANKS:
        return None
    return f"rank {len(dimensions)} needs HAL 1.2, not {view.version}"


RULES = rules(
    "SOFTMAX",
    shapes.same_as_input,
    general.ranks("C1"),
    clause("C2", "execution", "Before 1.2 the input has rank 2 or 4.", _old_rank),
    clause("C3", "execution", "Beta is greater than 0.", _beta),
    general.axis("C4", "axis", negative=True),
    general.empty("C5"),
    general.declared_outputs("C6", shapes.same_as_input),
    quantization.fixed_output("C7", 1 / 256, unsigned=0, signed=-128),
)
