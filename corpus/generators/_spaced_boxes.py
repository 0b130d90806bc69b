"""Boxes whose overlaps are far from every threshold, and scores that differ by much.

So float16 and eighths of a pixel leave the same boxes, and no result hangs on the order of ties, which is free.
"""

import numpy

from npu_conformance.corpus.generators.data import Array

BOXES = numpy.array(
    [
        (0, 0, 16, 16),
        (4, 0, 20, 16),
        (8, 0, 24, 16),
        (40, 8, 56, 24),
        (40, 12, 56, 28),
        (70, 40, 71.5, 60.25),
        (1, 1, 16, 16),
        (40, 8, 55, 30),
    ],
    dtype=float,
)
"""0 and 1, 1 and 2, 3 and 4 overlap by 3/5, 0 and 2 by 1/3, 0 and 6 by 225/256; 5 stands alone."""


def scores(seed: int, count: int, step: float = 1 / 32) -> Array:
    """Different multiples of `step` in [0, 1), in any order; count: at most 32."""
    return numpy.random.default_rng(seed).permutation(round(1 / step))[:count] * step


def moved(boxes: Array, right: float, down: float) -> Array:
    """The same boxes elsewhere: their overlaps are the same."""
    elsewhere: Array = boxes + numpy.array([right, down, right, down])
    return elsewhere
