"""Rules of RSQRT: 1 / sqrt(x) of each element."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary

RULES = unary("RSQRT")
