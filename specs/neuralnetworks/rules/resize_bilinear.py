"""Rules of RESIZE_BILINEAR: weighted means of four neighbours."""

from npu_conformance.specs.neuralnetworks.rules.common.resizing import resize_rules

RULES = resize_rules("RESIZE_BILINEAR")
