"""Rules of RELU1: each element clamped to -1..1."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization, shapes

RULES = rules(
    "RELU1",
    shapes.same_as_input,
    general.ranks("C1"),
    general.empty("C2"),
    general.declared_outputs("C3", shapes.same_as_input),
    quantization.same_as_input("C4"),
)
