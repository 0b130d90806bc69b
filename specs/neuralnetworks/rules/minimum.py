"""Rules of MINIMUM: the smaller of two elements, with broadcasting. All three quantisations may differ."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import binary

RULES = binary("MINIMUM")
