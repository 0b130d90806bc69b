"""Rules of WHILE. What its graphs must look like are rules of the model (MODEL.P6 to P8): here is nothing to add."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general

RULES = rules("WHILE", general.unknown_outputs)
