"""Rules of DEQUANTIZE: stored values to real ones."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary_of_ranks

RULES = unary_of_ranks("DEQUANTIZE")
