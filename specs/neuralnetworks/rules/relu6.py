"""Rules of RELU6: each element clamped to 0..6."""

from npu_conformance.specs.neuralnetworks.rules.common import quantization
from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary_of_ranks

RULES = unary_of_ranks("RELU6", quantization.same_as_input("C4"))
