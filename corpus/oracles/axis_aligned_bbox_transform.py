"""AXIS_ALIGNED_BBOX_TRANSFORM: each roi decoded by the deltas of each class, and clipped to its image."""

from npu_conformance.corpus.oracles._boxes import clipped, decoded
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present, stored


def axis_aligned_bbox_transform(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """In float64; image information is height, then width (hazard box-coordinates)."""
    rois, deltas, batches, images = map(present, inputs)
    count, columns = deltas.dimensions
    values: list[int | float] = []
    for row in range(count):
        roi = [float(rois.at(row, position)) for position in range(4)]
        height, width = (float(images.at(batches.integers[row], position)) for position in range(2))
        for first in range(0, columns, 4):
            delta = [float(deltas.at(row, first + position)) for position in range(4)]
            values += [stored(value, outputs[0]) for value in clipped(decoded(roi, delta), height, width)]
    return [Result((count, columns), values)]
