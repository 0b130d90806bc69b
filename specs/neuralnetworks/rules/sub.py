"""Rules of SUB: element-wise difference with broadcasting."""

from npu_conformance.specs.neuralnetworks.rules.common import sums
from npu_conformance.specs.neuralnetworks.rules.common.elementwise import arithmetic

RULES = arithmetic("SUB", sums.output_scale("C7"), text_alone=("C3",))
