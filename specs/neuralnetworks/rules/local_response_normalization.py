"""Rules of LOCAL_RESPONSE_NORMALIZATION: elements divided by a power of the squares around them."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes


def _radius(view: OperationView) -> str | None:
    radius = view.integer("radius")
    return f"the radius is {radius}" if radius is not None and radius < 0 else None


RULES = rules(
    "LOCAL_RESPONSE_NORMALIZATION",
    shapes.same_as_input,
    general.ranks("C1"),
    general.ranks_before_1_2("C2", 4),
    general.axis("C3", "axis", negative=True),
    general.empty("C4"),
    general.declared_outputs("C5", shapes.same_as_input),
    clause("C6", "execution", "The radius is not negative.", _radius, "reference"),
)
