"""Rules of PAD: real zeros before and after each dimension."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, padding, quantization

RULES = rules(
    "PAD",
    padding.padded,
    general.ranks("C1"),
    padding.paddings_shape("C2"),
    padding.not_negative("C3"),
    padding.zero_point("C4"),
    general.empty("C5"),
    general.declared_outputs("C6", padding.padded),
    quantization.same_as_input("C7"),
)
