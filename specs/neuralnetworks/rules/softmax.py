"""Rules of SOFTMAX: normalised exponentials along one axis."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization, shapes

RULES = rules(
    "SOFTMAX",
    shapes.same_as_input,
    general.ranks("C1"),
    general.ranks_before_1_2("C2", 2, 4),
    general.positive("C3", "beta"),
    general.axis("C4", "axis", negative=True),
    general.empty("C5"),
    general.declared_outputs("C6", shapes.same_as_input),
    quantization.fixed_output("C7", 1 / 256, unsigned=0, signed=-128),
)
