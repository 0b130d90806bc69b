"""Rules of RELU: max(0, x) of each element."""

from npu_conformance.specs.neuralnetworks.rules.common import quantization
from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary_of_ranks

RULES = unary_of_ranks("RELU", quantization.same_as_input("C4"))
