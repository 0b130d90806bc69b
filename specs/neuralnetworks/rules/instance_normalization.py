"""Rules of INSTANCE_NORMALIZATION: each channel of each image to mean 0 and variance 1, then scaled and moved."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

RULES = rules(
    "INSTANCE_NORMALIZATION",
    shapes.same_as_input,
    general.ranks("C1"),
    general.empty("C2"),
    general.declared_outputs("C3", shapes.same_as_input),
)
