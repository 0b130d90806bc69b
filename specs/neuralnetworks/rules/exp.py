"""Rules of EXP: e^x of each element."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

RULES = rules(
    "EXP",
    shapes.same_as_input,
    general.empty("C1"),
    general.declared_outputs("C2", shapes.same_as_input),
)
