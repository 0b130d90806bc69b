"""Rules of EQUAL: whether elements of one tensor are equal to those of another, with broadcasting."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

RULES = rules(
    "EQUAL",
    shapes.broadcast_inputs,
    shapes.broadcastable("C1"),
    general.empty("C2"),
    general.declared_outputs("C3", shapes.broadcast_inputs),
)
