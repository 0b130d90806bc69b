"""GENERATE_PROPOSALS."""

import numpy

from npu_conformance.reference.device.boxes import clipped, decoded, suppressed
from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required
from npu_conformance.reference.device.windows import to_nhwc


def generate_proposals(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """In each batch the best anchors of the grid, decoded, clipped and larger than min_size, that do not overlap."""
    nchw = bool(integer(inputs[10]))
    scores, deltas = (to_nhwc(real(required(data)), nchw) for data in inputs[:2])
    anchors, images = real(required(inputs[2])), real(required(inputs[3]))
    before, after = integer(inputs[6]), integer(inputs[7])
    stride_y, stride_x, overlap, least = (float(required(inputs[i]).data.item()) for i in (4, 5, 8, 9))
    batches, height, width, kinds = scores.shape
    count = height * width * kinds
    corners = numpy.stack(numpy.meshgrid(numpy.arange(width) * stride_x, numpy.arange(height) * stride_y), axis=-1)
    grid = anchors + numpy.tile(corners, 2)[:, :, numpy.newaxis]
    proposals = decoded(grid, deltas.reshape(batches, height, width, kinds, 4)).reshape(batches, count, 4)
    boxes, flat = clipped(proposals, images[:, numpy.newaxis]), scores.reshape(batches, count)
    found: list[Array] = []
    for batch in range(batches):
        best = numpy.argsort(-flat[batch], kind="stable")[: before if before > 0 else count]
        large = best[_is_large(boxes[batch, best], least) & _is_inside(boxes[batch, best], images[batch])]
        found.append(large[suppressed(boxes[batch, large], flat[batch, large], overlap, after if after > 0 else count)])
    of_batch, chosen = numpy.repeat(numpy.arange(batches), [kept.size for kept in found]), numpy.concatenate(found)
    results = store(flat[of_batch, chosen], outputs[0]), store(boxes[of_batch, chosen], outputs[1])
    return *results, of_batch.astype(numpy.int32)


def _is_large(boxes: Array, least: float) -> Array:
    """Where both sides are longer than `least`."""
    width, height = (boxes[:, 2:] - boxes[:, :2]).T
    large: Array = (width > least) & (height > least)
    return large


def _is_inside(boxes: Array, image: Array) -> Array:
    """Where the centre lies in the image, which has a height and a width."""
    x, y = (boxes[:, 2:] + boxes[:, :2]).T / 2
    inside: Array = (x < image[1]) & (y < image[0])
    return inside
