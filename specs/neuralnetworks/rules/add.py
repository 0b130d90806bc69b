"""Rules of ADD: element-wise sum with broadcasting."""

from npu_conformance.specs.neuralnetworks.rules.common import sums
from npu_conformance.specs.neuralnetworks.rules.common.elementwise import arithmetic

RULES = arithmetic("ADD", sums.output_scale("C7"))
