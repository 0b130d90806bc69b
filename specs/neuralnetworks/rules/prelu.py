"""Rules of PRELU: x, or alpha * x below zero, with broadcasting. All three quantisations may differ."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import binary

RULES = binary("PRELU")
