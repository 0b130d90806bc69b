"""Rules of POW: base to the power of exponent, with broadcasting."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

RULES = rules(
    "POW",
    shapes.broadcast_inputs,
    shapes.broadcastable("C1"),
    general.empty("C2"),
    general.declared_outputs("C3", shapes.broadcast_inputs),
)
