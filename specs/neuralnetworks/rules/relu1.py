"""Rules of RELU1: each element clamped to -1..1."""

from npu_conformance.specs.neuralnetworks.rules.common import quantization
from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary_of_ranks

RULES = unary_of_ranks("RELU1", quantization.same_as_input("C4"))
