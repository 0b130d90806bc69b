"""Rules of PAD_V2: a given value before and after each dimension."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general, padding, quantization

RULES = rules(
    "PAD_V2",
    padding.padded,
    general.ranks("C1"),
    padding.paddings_shape("C2"),
    padding.not_negative("C3"),
    general.empty("C4"),
    general.declared_outputs("C5", padding.padded),
    quantization.same_as_input("C6"),
)
