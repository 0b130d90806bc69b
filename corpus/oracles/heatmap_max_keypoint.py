"""HEATMAP_MAX_KEYPOINT: the largest element of each heatmap, refined by the parabola through its neighbours."""

from collections.abc import Callable
from fractions import Fraction

from npu_conformance.corpus.oracles._windows import Layout
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present, stored

_FARTHEST = Fraction(3, 2)
_SINGULAR = Fraction(1, 100000)
"""A determinant that counts as 0. Vectors stay away from the limit, which is Android's own (1/1000 in float16)."""


def heatmap_max_keypoint(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Scores [n, keypoints] and keypoints [n, keypoints, (x, y)], in exact arithmetic."""
    source, boxes = present(inputs[0]), present(inputs[1])
    layout = Layout(source.dimensions, bool(present(inputs[2]).scalar))
    count, side, _, keypoints = layout.sizes
    scores: list[int | float] = []
    places: list[int | float] = []
    for box in range(count):
        x1, y1, x2, y2 = (Fraction(boxes.at(box, position)) for position in range(4))
        for keypoint in range(keypoints):

            def at(row: int, column: int, box: int = box, keypoint: int = keypoint) -> Fraction:
                return Fraction(source.reals[layout.flat(box, _mirrored(row, side), _mirrored(column, side), keypoint)])

            row, column = max(((y, x) for y in range(side) for x in range(side)), key=lambda place: at(*place))
            score, right, down = _refined(at, row, column)
            scores.append(stored(score, outputs[0]))
            places.append(stored((column + right + Fraction(1, 2)) / side * (x2 - x1) + x1, outputs[1]))
            places.append(stored((row + down + Fraction(1, 2)) / side * (y2 - y1) + y1, outputs[1]))
    return [Result((count, keypoints), scores), Result((count, keypoints, 2), places)]


def _mirrored(index: int, side: int) -> int:
    return 1 if index < 0 else side - 2 if index >= side else index


def _refined(at: Callable[[int, int], Fraction], row: int, column: int) -> tuple[Fraction, Fraction, Fraction]:
    """Score, step to the right and step down of the extremum of the second-order Taylor expansion."""
    middle = at(row, column)
    left, right, up, down = at(row, column - 1), at(row, column + 1), at(row - 1, column), at(row + 1, column)
    corners = at(row + 1, column + 1) - at(row + 1, column - 1) - at(row - 1, column + 1) + at(row - 1, column - 1)
    slope_x, slope_y = (right - left) / 2, (down - up) / 2
    bend_x, bend_y, twist = left - 2 * middle + right, up - 2 * middle + down, corners / 4
    determinant = bend_x * bend_y - twist * twist
    if abs(determinant) < _SINGULAR * (1 + bend_x * bend_y):
        return middle, Fraction(0), Fraction(0)
    # Cramer's rule for the place where the gradient is zero.
    x = (-slope_x * bend_y + slope_y * twist) / determinant
    y = (-slope_y * bend_x + slope_x * twist) / determinant
    farthest = max(abs(x), abs(y))
    if farthest > _FARTHEST:
        x, y = x * _FARTHEST / farthest, y * _FARTHEST / farthest
    return middle + slope_x * x + slope_y * y + (bend_x * x * x + 2 * twist * x * y + bend_y * y * y) / 2, x, y
