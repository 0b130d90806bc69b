"""Rules of LOGISTIC: 1 / (1 + exp(-x)) of each element."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization, shapes

RULES = rules(
    "LOGISTIC",
    shapes.same_as_input,
    general.ranks("C1"),
    general.empty("C2"),
    general.declared_outputs("C3", shapes.same_as_input),
    quantization.fixed_output("C4", 1 / 256, unsigned=0, signed=-128),
)
