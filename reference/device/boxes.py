"""Boxes x1, y1, x2, y2 along the last axis of an array: decoding by deltas, clipping, overlap."""

from __future__ import annotations

import numpy

from npu_conformance.reference.device.tensors import Array


def decoded(boxes: Array, deltas: Array) -> Array:
    """Boxes whose centres are moved by (dx, dy) times their size, and whose size is multiplied by exp of (dw, dh)."""
    sizes = boxes[..., 2:] - boxes[..., :2]
    centres = (boxes[..., :2] + boxes[..., 2:]) / 2 + deltas[..., :2] * sizes
    halves = numpy.exp(deltas[..., 2:]) * sizes / 2
    return numpy.concatenate((centres - halves, centres + halves), axis=-1)


def clipped(boxes: Array, images: Array) -> Array:
    """Boxes cut to their images, of which the last axis is height, width."""
    limits = numpy.concatenate((images[..., ::-1], images[..., ::-1]), axis=-1)
    inside: Array = numpy.minimum(numpy.maximum(boxes, 0.0), limits)
    return inside
