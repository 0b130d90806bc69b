"""Rules of TANH: hyperbolic tangent of each element."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization, shapes

RULES = rules(
    "TANH",
    shapes.same_as_input,
    general.ranks("C1"),
    general.empty("C2"),
    general.declared_outputs("C3", shapes.same_as_input),
    quantization.fixed_output("C4", 1 / 128, unsigned=128, signed=0),
)
