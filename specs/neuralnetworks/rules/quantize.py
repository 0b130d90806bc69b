"""Rules of QUANTIZE: real values to the declared scale and zero point of the output."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, shapes

RULES = rules(
    "QUANTIZE",
    shapes.same_as_input,
    general.empty("C1"),
    general.declared_outputs("C2", shapes.same_as_input),
)
