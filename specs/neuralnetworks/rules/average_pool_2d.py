"""Rules of AVERAGE_POOL_2D: mean of the elements of each window that lie inside."""

from npu_conformance.specs.neuralnetworks.rules.common import quantization, window
from npu_conformance.specs.neuralnetworks.rules.common.pools import pool

RULES = pool("AVERAGE_POOL_2D", quantization.same_as_input("C9"), window.fitting_window("C10"))
