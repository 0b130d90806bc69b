"""DETECTION_POSTPROCESSING."""

import numpy

from npu_conformance.reference.device.boxes import suppressed
from npu_conformance.reference.device.quantization import real
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, element_type, integer, required

Rows = list[tuple[int, int]]
"""Anchor and class of each row; class 0 is the background."""


def detection_postprocessing(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """The best anchors without overlaps: scores, boxes y1, x1, y2, x2 and classes, zeros behind the valid rows."""
    scores, deltas, anchors = (real(required(data)) for data in inputs[:3])
    scales = numpy.array([float(required(scale).data.item()) for scale in inputs[3:7]])
    regular, most, most_classes, most_per_class, with_background = (integer(inputs[i]) for i in (7, 8, 9, 10, 13))
    threshold, overlap = (float(required(inputs[i]).data.item()) for i in (11, 12))
    decoded = _decoded(anchors, deltas[..., :4] / scales)
    results = tuple(numpy.zeros(output.dimensions, element_type(output.operand_type)) for output in outputs)
    kept, boxes, classes, counts = results
    for batch, table in enumerate(scores):
        places = decoded[batch]
        if regular:
            rows = _regular(table, places, threshold, overlap, most_per_class)[:most]
        else:
            rows = _fast(table, places, threshold, overlap, most, most_classes)
        counts[batch] = len(rows)
        for row, (anchor, label) in enumerate(rows):
            kept[batch, row], boxes[batch, row] = table[anchor, label], places[anchor]
            classes[batch, row] = label if with_background else label - 1
    return results


def _decoded(anchors: Array, deltas: Array) -> Array:
    """Boxes of anchors y, x, height, width, whose centre moves by their size and whose size grows exponentially."""
    centres = anchors[:, :2] + anchors[:, 2:] * deltas[..., :2]
    halves = anchors[:, 2:] * numpy.exp(deltas[..., 2:]) / 2
    return numpy.concatenate((centres - halves, centres + halves), axis=-1)


def _regular(table: Array, boxes: Array, threshold: float, overlap: float, most: int) -> Rows:
    """All rows by descending score, suppressed class by class."""
    rows: Rows = []
    for label in range(1, table.shape[1]):
        candidates = numpy.flatnonzero(table[:, label] > threshold)
        kept = suppressed(boxes[candidates], table[candidates, label], overlap, most)
        rows += [(int(anchor), label) for anchor in candidates[kept]]
    return sorted(rows, key=lambda row: -float(table[row]))


def _fast(table: Array, boxes: Array, threshold: float, overlap: float, most: int, most_classes: int) -> Rows:
    """The best classes of each anchor that is left when anchors are suppressed by their best score."""
    best = table[:, 1:].max(axis=1)
    candidates = numpy.flatnonzero(best > threshold)
    kept = candidates[suppressed(boxes[candidates], best[candidates], overlap, most)]
    return [
        (int(anchor), int(label) + 1)
        for anchor in kept
        for label in numpy.argsort(-table[anchor, 1:], kind="stable")[:most_classes]
    ]
