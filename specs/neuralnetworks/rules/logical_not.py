"""Rules of LOGICAL_NOT: whether each element is false."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary

RULES = unary("LOGICAL_NOT")
