"""Rules of REDUCE_ANY: the logical or along some axes, which go away or stay with size 1."""

from npu_conformance.specs.neuralnetworks.rules.common.reductions import reduction

RULES = reduction("REDUCE_ANY")
