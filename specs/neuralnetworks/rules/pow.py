"""Rules of POW: base to the power of exponent, with broadcasting."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import binary

RULES = binary("POW")
