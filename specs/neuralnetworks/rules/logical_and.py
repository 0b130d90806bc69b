"""Rules of LOGICAL_AND: whether both are true, with broadcasting."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import binary

RULES = binary("LOGICAL_AND")
