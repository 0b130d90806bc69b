"""Labelled pictures of digits: a font of 5 x 7 points, drawn large, shifted, faded and covered with noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

SIZE = 16
"""Rows and columns of a picture."""
CLASSES = 10
_FONT = (
    ".###. #...# #..## #.#.# ##..# #...# .###.",
    "..#.. .##.. ..#.. ..#.. ..#.. ..#.. .###.",
    ".###. #...# ....# ...#. ..#.. .#... #####",
    "##### ...#. ..#.. ...#. ....# #...# .###.",
    "...#. ..##. .#.#. #..#. ##### ...#. ...#.",
    "##### #.... ####. ....# ....# #...# .###.",
    "..##. .#... #.... ####. #...# #...# .###.",
    "##### ....# ...#. ..#.. .#... .#... .#...",
    ".###. #...# #...# .###. #...# #...# .###.",
    ".###. #...# #...# .#### ....# ...#. .##..",
)
_ENLARGED = 2
_NOISE = 0.18
_CONTRAST = (0.6, 1.2)
_SHIFTS = 1
"""How many rows and columns a digit is off the middle, at most."""


def pictures(count: int, seed: int) -> tuple[Array, Array]:
    """Pictures [count, 16, 16, 1], float32 in -1..1, and their digits [count]; the same for the same seed."""
    random = numpy.random.default_rng(seed)
    labels = random.integers(0, CLASSES, count)
    glyphs = _glyphs()
    drawn = numpy.zeros((count, SIZE, SIZE))
    rows, columns = (
        (SIZE - size) // 2 + random.integers(-_SHIFTS, _SHIFTS, count, endpoint=True) for size in glyphs.shape[1:]
    )
    for place, label in enumerate(labels):
        row, column = rows[place], columns[place]
        drawn[place, row : row + glyphs.shape[1], column : column + glyphs.shape[2]] = glyphs[label]
    drawn *= random.uniform(*_CONTRAST, (count, 1, 1))
    drawn += random.uniform(-0.5, 0.5, (count, 1, 1)) + _NOISE * random.standard_normal(drawn.shape) - 0.25
    return numpy.clip(drawn, -1.0, 1.0).astype(numpy.float32)[..., None], labels


def _glyphs() -> Array:
    """The digits [10, 14, 10], 1 where there is ink."""
    points = [[[float(point == "#") for point in row] for row in glyph.split()] for glyph in _FONT]
    return numpy.array(points).repeat(_ENLARGED, axis=1).repeat(_ENLARGED, axis=2)
