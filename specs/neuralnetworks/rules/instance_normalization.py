"""Rules of INSTANCE_NORMALIZATION: each channel of each image to mean 0 and variance 1, then scaled and moved."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import unary_of_ranks

RULES = unary_of_ranks("INSTANCE_NORMALIZATION")
