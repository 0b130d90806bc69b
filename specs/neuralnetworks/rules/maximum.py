"""Rules of MAXIMUM: the larger of two elements, with broadcasting. All three quantisations may differ."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import binary

RULES = binary("MAXIMUM")
