"""Rules of WHILE. The model's rules say what its graphs must look like (MODEL.P6 to P8): nothing is added here."""

from npu_conformance.specs.neuralnetworks.rules.clause import rules
from npu_conformance.specs.neuralnetworks.rules.common import general

RULES = rules("WHILE", general.unknown_outputs)
