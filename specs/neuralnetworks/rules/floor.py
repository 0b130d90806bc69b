"""Rules of FLOOR: the greatest integer that is not above each element."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

RULES = rules(
    "FLOOR",
    shapes.same_as_input,
    general.ranks("C1"),
    general.empty("C2"),
    general.declared_outputs("C3", shapes.same_as_input),
)
