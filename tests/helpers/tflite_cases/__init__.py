"""Small models of each builtin operator of .tflite and each rule of its import: `CASES`, `STATEFUL` with a state."""

from tflite_cases import elementwise, others, shapes, windows
from tflite_cases.common import CASES, Make
from tflite_cases.recurrent import STATEFUL

FAMILIES = (elementwise, others, shapes, windows)
"""The modules whose cases are in the table."""

__all__ = ["CASES", "FAMILIES", "STATEFUL", "Make"]
