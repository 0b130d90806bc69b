"""Rules of L2_POOL_2D: root of the mean square of the elements of each window that lie inside."""

from npu_conformance.specs.neuralnetworks.rules.common import window
from npu_conformance.specs.neuralnetworks.rules.common.pools import pool

RULES = pool("L2_POOL_2D", window.fitting_window("C9"))
