"""What oracles of operations on boxes share: decoding by deltas, clipping, overlap. A box is x1, y1, x2, y2."""

import math
from collections.abc import Sequence

Box = tuple[float, float, float, float]


def decoded(box: Sequence[float], delta: Sequence[float]) -> Box:
    """The box with its centre moved by (dx, dy) times its size, and its size multiplied by exp of (dw, dh)."""
    x1, y1, x2, y2 = box
    dx, dy, dw, dh = delta
    width, height = x2 - x1, y2 - y1
    centre_x, centre_y = (x1 + x2) / 2 + dx * width, (y1 + y2) / 2 + dy * height
    half_width, half_height = _exp(dw) * width / 2, _exp(dh) * height / 2
    return centre_x - half_width, centre_y - half_height, centre_x + half_width, centre_y + half_height


def clipped(box: Box, height: float, width: float) -> Box:
    """The part of a box that lies in an image; a box beside the image lies on its edge."""
    x1, y1, x2, y2 = box
    return _between(x1, width), _between(y1, height), _between(x2, width), _between(y2, height)


def overlap(one: Sequence[float], other: Sequence[float]) -> float:
    """Intersection over union; NaN for two boxes without area."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    intersection = max(width, 0.0) * max(height, 0.0)
    union = _area(one) + _area(other) - intersection
    return intersection / union if union else math.nan


def left_over(boxes: Sequence[Box], scores: Sequence[float], threshold: float, most: float) -> list[int]:
    """Positions, by descending score, of at most so many boxes: each removes those it overlaps by the threshold."""
    candidates = sorted(range(len(boxes)), key=lambda position: scores[position], reverse=True)
    kept: list[int] = []
    while candidates and len(kept) < most:
        best = candidates[0]
        kept.append(best)
        candidates = [one for one in candidates[1:] if not overlap(boxes[best], boxes[one]) >= threshold]
    return kept


def _area(box: Sequence[float]) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _between(value: float, limit: float) -> float:
    return min(max(value, 0.0), limit)


def _exp(value: float) -> float:
    return math.inf if value > 700 else math.exp(value)
