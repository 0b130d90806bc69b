"""Rules of NEG: -x of each element."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary

RULES = unary("NEG")
