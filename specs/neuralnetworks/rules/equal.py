"""Rules of EQUAL: whether elements of one tensor are equal to those of another, with broadcasting."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import binary

RULES = binary("EQUAL")
