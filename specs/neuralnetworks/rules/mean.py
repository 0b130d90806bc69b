"""Rules of MEAN: the mean along some axes, which go away or stay with size 1."""

from npu_conformance.specs.neuralnetworks.rules.common import quantization
from npu_conformance.specs.neuralnetworks.rules.common.reductions import reduction

RULES = reduction("MEAN", quantization.same_as_input("C5"), text_alone=("C1",))
