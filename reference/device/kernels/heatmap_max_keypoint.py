"""HEATMAP_MAX_KEYPOINT."""

import numpy

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required
from npu_conformance.reference.device.windows import to_nhwc

_SINGULAR = 1e-5
"""Determinants below this count as 0."""


def heatmap_max_keypoint(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """The first largest element of each heatmap, moved to the extremum of the parabola f = g - b.d + d.A.d/2."""
    maps, boxes = to_nhwc(real(required(inputs[0])), bool(integer(inputs[2]))), real(required(inputs[1]))
    count, size, _, keypoints = maps.shape
    row, column = numpy.divmod(maps.reshape(count, size * size, keypoints).argmax(axis=1), size)
    mirrored = [1, *range(size), size - 2]
    padded = maps[:, mirrored][:, :, mirrored]
    images, points = numpy.ogrid[:count, :keypoints]
    g = [[padded[images, row + y, column + x, points] for x in range(3)] for y in range(3)]
    score, step = _extremum(g)
    place = (numpy.stack((column, row), axis=-1) + step + 0.5) / size
    start, end = boxes[:, numpy.newaxis, :2], boxes[:, numpy.newaxis, 2:]
    return store(score, outputs[0]), store(place * (end - start) + start, outputs[1])


def _extremum(g: list[list[Array]]) -> tuple[Array, Array]:
    """Value, and step (x, y) of at most 1.5, of the extremum around g[1][1]; no step where A has no inverse."""
    b = numpy.stack((g[1][0] - g[1][2], g[0][1] - g[2][1]), axis=-1) / 2
    xx, yy = g[1][0] - 2 * g[1][1] + g[1][2], g[0][1] - 2 * g[1][1] + g[2][1]
    xy = (g[2][2] - g[2][0] - g[0][2] + g[0][0]) / 4
    diagonal = xx * yy
    determinant = diagonal - xy * xy
    step = numpy.stack((yy * b[..., 0] - xy * b[..., 1], xx * b[..., 1] - xy * b[..., 0]), axis=-1)
    step /= determinant[..., numpy.newaxis]
    step /= numpy.maximum(numpy.abs(step).max(axis=-1, keepdims=True) / 1.5, 1.0)
    step[_is_singular(determinant, diagonal)] = 0.0
    bent = xx * step[..., 0] ** 2 + 2 * xy * step[..., 0] * step[..., 1] + yy * step[..., 1] ** 2
    return g[1][1] - (b * step).sum(axis=-1) + bent / 2, step


def _is_singular(determinant: Array, diagonal: Array) -> Array:
    singular: Array = numpy.abs(determinant) < _SINGULAR * (1 + diagonal)
    return singular
