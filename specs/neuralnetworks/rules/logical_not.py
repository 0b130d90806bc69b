"""Rules of LOGICAL_NOT: whether each element is false."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

RULES = rules(
    "LOGICAL_NOT",
    shapes.same_as_input,
    general.empty("C1"),
    general.declared_outputs("C2", shapes.same_as_input),
)
