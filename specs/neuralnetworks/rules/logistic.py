"""Rules of LOGISTIC: 1 / (1 + exp(-x)) of each element."""

from npu_conformance.specs.neuralnetworks.rules.common import quantization
from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary_of_ranks

RULES = unary_of_ranks("LOGISTIC", quantization.fixed_output("C4", 1 / 256, unsigned=0, signed=-128))
