"""Rules of SIN: sine of each element, in radians."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary

RULES = unary("SIN")
