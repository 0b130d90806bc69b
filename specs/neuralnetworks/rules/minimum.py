"""Rules of MINIMUM: the smaller of two elements, with broadcasting. All three quantisations may differ."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

RULES = rules(
    "MINIMUM",
    shapes.broadcast_inputs,
    shapes.broadcastable("C1"),
    general.empty("C2"),
    general.declared_outputs("C3", shapes.broadcast_inputs),
)
