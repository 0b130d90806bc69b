"""Rules of MAX_POOL_2D: largest element of each window."""

from npu_conformance.specs.neuralnetworks.rules.common import quantization, window
from npu_conformance.specs.neuralnetworks.rules.common.pools import pool

RULES = pool("MAX_POOL_2D", quantization.same_as_input("C9"), window.fitting_window("C10"))
