"""Rules of REDUCE_MAX: the largest element along some axes, which go away or stay with size 1."""

from npu_conformance.specs.neuralnetworks.rules.common import quantization
from npu_conformance.specs.neuralnetworks.rules.common.reductions import reduction

RULES = reduction("REDUCE_MAX", quantization.same_as_input("C5"))
