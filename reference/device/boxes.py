"""Boxes x1, y1, x2, y2 along the last axis of an array: decoding by deltas, clipping, overlap."""

import numpy

from npu_conformance.reference.device.tensors import Array


def decoded(boxes: Array, deltas: Array) -> Array:
    """The boxes with centres moved by (dx, dy) times their size, and with sizes multiplied by exp of (dw, dh)."""
    sizes = boxes[..., 2:] - boxes[..., :2]
    centres = (boxes[..., :2] + boxes[..., 2:]) / 2 + deltas[..., :2] * sizes
    halves = numpy.exp(deltas[..., 2:]) * sizes / 2
    return numpy.concatenate((centres - halves, centres + halves), axis=-1)


def clipped(boxes: Array, images: Array) -> Array:
    """The boxes cut to their images; the last axis of the images is height, width."""
    limits = numpy.concatenate((images[..., ::-1], images[..., ::-1]), axis=-1)
    inside: Array = numpy.minimum(numpy.maximum(boxes, 0.0), limits)
    return inside


def overlaps(box: Array, others: Array) -> Array:
    """Intersection over union of a box with each of the others; NaN where both have no area."""
    low, high = numpy.maximum(box[:2], others[:, :2]), numpy.minimum(box[2:], others[:, 2:])
    intersections = numpy.maximum(high - low, 0.0).prod(axis=1)
    areas = (others[:, 2:] - others[:, :2]).prod(axis=1)
    found: Array = intersections / ((box[2:] - box[:2]).prod() + areas - intersections)
    return found


def suppressed(boxes: Array, scores: Array, threshold: float, limit: int) -> list[int]:
    """At most `limit` boxes by descending score, each of which removes those that overlap it by the threshold."""
    kept: list[int] = []
    left = numpy.argsort(-scores, kind="stable")
    while left.size and len(kept) < limit:
        best, left = left[0], left[1:]
        kept.append(int(best))
        left = left[~(overlaps(boxes[best], boxes[left]) >= threshold)]
    return kept
