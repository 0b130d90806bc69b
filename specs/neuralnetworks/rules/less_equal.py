"""Rules of LESS_EQUAL: whether elements of one tensor are not greater than those of another, broadcast."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import binary

RULES = binary("LESS_EQUAL")
