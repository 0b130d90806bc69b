"""Rules of LOG: natural logarithm of each element."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary

RULES = unary("LOG")
