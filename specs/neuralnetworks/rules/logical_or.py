"""Rules of LOGICAL_OR: whether at least one is true, with broadcasting."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import binary

RULES = binary("LOGICAL_OR")
