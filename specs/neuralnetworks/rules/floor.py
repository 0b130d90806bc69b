"""Rules of FLOOR: the greatest integer that is not above each element."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary_of_ranks

RULES = unary_of_ranks("FLOOR")
