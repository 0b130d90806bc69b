"""Rules of ARGMAX: where the largest element along an axis is."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import arguments, general

RULES = rules(
    "ARGMAX",
    arguments.output_shapes,
    general.axis("C1", "axis", negative=True),
    general.empty("C2"),
    general.declared_outputs("C3", arguments.output_shapes),
)
