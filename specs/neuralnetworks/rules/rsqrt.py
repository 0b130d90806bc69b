"""Rules of RSQRT: 1 / sqrt(x) of each element."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

RULES = rules(
    "RSQRT",
    shapes.same_as_input,
    general.empty("C1"),
    general.declared_outputs("C2", shapes.same_as_input),
)
