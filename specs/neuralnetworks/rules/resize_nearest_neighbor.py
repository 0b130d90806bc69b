"""Rules of RESIZE_NEAREST_NEIGHBOR: copies of one neighbour."""

from npu_conformance.specs.neuralnetworks.rules.common.resizing import resize_rules

RULES = resize_rules("RESIZE_NEAREST_NEIGHBOR")
