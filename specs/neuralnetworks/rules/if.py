"""Rules of IF. What its branches must look like are rules of the model (MODEL.P5, P7): here is nothing to add."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general

RULES = rules("IF", general.unknown_outputs)
