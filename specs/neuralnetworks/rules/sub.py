"""Rules of SUB: element-wise difference with broadcasting."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes, sums

RULES = rules(
    "SUB",
    shapes.broadcast_inputs,
    shapes.broadcastable("C1"),
    general.ranks("C2"),
    general.activation("C3"),
    general.integer_activation("C4"),
    general.empty("C5"),
    general.declared_outputs("C6", shapes.broadcast_inputs),
    sums.output_scale("C7"),
)
