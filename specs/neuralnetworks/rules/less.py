"""Rules of LESS: whether elements of one tensor are less than those of another, with broadcasting."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import binary

RULES = binary("LESS")
