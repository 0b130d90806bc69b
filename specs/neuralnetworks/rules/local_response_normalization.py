"""Rules of LOCAL_RESPONSE_NORMALIZATION: elements divided by a power of the squares around them."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

RULES = rules(
    "LOCAL_RESPONSE_NORMALIZATION",
    shapes.same_as_input,
    general.ranks("C1"),
    general.ranks_before_1_2("C2", 4),
    general.axis("C3", "axis", negative=True),
    general.empty("C4"),
    general.declared_outputs("C5", shapes.same_as_input),
)
