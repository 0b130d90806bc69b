"""Rules of DIV: element-wise quotient with broadcasting."""

from npu_conformance.specs.neuralnetworks.rules.common.elementwise import arithmetic

RULES = arithmetic("DIV", text_alone=("C3",))
