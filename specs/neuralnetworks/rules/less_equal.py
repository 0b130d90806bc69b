"""Rules of LESS_EQUAL: whether elements of one tensor are not greater than those of another, broadcast."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

RULES = rules(
    "LESS_EQUAL",
    shapes.broadcast_inputs,
    shapes.broadcastable("C1"),
    general.empty("C2"),
    general.declared_outputs("C3", shapes.broadcast_inputs),
)
