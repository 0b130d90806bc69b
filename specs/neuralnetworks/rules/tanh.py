"""Rules of TANH: hyperbolic tangent of each element."""

from npu_conformance.specs.neuralnetworks.rules.common import quantization
from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary_of_ranks

RULES = unary_of_ranks("TANH", quantization.fixed_output("C4", 1 / 128, unsigned=128, signed=0))
