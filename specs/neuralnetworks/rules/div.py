"""Rules of DIV: element-wise quotient with broadcasting."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

RULES = rules(
    "DIV",
    shapes.broadcast_inputs,
    shapes.broadcastable("C1"),
    general.ranks("C2"),
    general.activation("C3"),
    general.integer_activation("C4"),
    general.empty("C5"),
    general.declared_outputs("C6", shapes.broadcast_inputs),
)
