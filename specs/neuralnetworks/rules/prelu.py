"""Rules of PRELU: x, or alpha * x below zero, with broadcasting. All three quantisations may differ."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

RULES = rules(
    "PRELU",
    shapes.broadcast_inputs,
    shapes.broadcastable("C1"),
    general.empty("C2"),
    general.declared_outputs("C3", shapes.broadcast_inputs),
)
