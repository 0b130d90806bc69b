"""Rules of GREATER: whether elements of one tensor are greater than those of another, with broadcasting."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import binary

RULES = binary("GREATER")
