"""Rules of GREATER_EQUAL: whether elements of one tensor are not less than those of another, broadcast."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import binary

RULES = binary("GREATER_EQUAL")
