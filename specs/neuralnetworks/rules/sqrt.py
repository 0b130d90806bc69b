"""Rules of SQRT: square root of each element."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary

RULES = unary("SQRT")
