"""Rules of REDUCE_ALL: the logical and along some axes, which go away or stay with size 1."""

from npu_conformance.specs.neuralnetworks.rules.common.reductions import reduction

RULES = reduction("REDUCE_ALL")
