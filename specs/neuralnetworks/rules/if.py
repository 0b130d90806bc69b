"""Rules of IF. The model's rules say what its branches must look like (MODEL.P5, P7): nothing is added here."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general

RULES = rules("IF", general.unknown_outputs)
