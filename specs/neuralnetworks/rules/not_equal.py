"""Rules of NOT_EQUAL: whether elements of one tensor are different from those of another, with broadcasting."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import binary

RULES = binary("NOT_EQUAL")
