"""Rules of CAST: stored values to another type, whatever the quantisation."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary

RULES = unary("CAST")
