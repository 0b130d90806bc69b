"""Rules of L2_NORMALIZATION: slices along one axis divided by their Euclidean length."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization, shapes

RULES = rules(
    "L2_NORMALIZATION",
    shapes.same_as_input,
    general.ranks("C1"),
    general.ranks_before_1_2("C2", 4),
    general.axis("C3", "axis", negative=True),
    general.empty("C4"),
    general.declared_outputs("C5", shapes.same_as_input),
    quantization.fixed_output("C6", 1 / 128, unsigned=128, signed=0),
)
