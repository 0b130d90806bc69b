"""Rules of LOG_SOFTMAX: logarithms of normalised exponentials along one axis."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

RULES = rules(
    "LOG_SOFTMAX",
    shapes.same_as_input,
    general.positive("C1", "beta", "text"),
    general.axis("C2", "axis", negative=True),
    general.empty("C3"),
    general.declared_outputs("C4", shapes.same_as_input),
)
