"""Rules of ARGMIN: where the smallest element along an axis is."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import arguments, general

RULES = rules(
    "ARGMIN",
    arguments.output_shapes,
    general.axis("C1", "axis", negative=True),
    general.empty("C2"),
    general.declared_outputs("C3", arguments.output_shapes),
)
