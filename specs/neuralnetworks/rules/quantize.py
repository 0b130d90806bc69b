"""Rules of QUANTIZE: real values to the declared scale and zero point of the output."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary

RULES = unary("QUANTIZE")
