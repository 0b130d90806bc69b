"""Rules of REDUCE_MIN: the smallest element along some axes, which go away or stay with size 1."""

from npu_conformance.specs.neuralnetworks.rules.common import quantization
from npu_conformance.specs.neuralnetworks.rules.common.reductions import reduction

RULES = reduction("REDUCE_MIN", quantization.same_as_input("C5"))
