"""DETECTION_POSTPROCESSING: anchors decoded, suppressed by class or all together, into a fixed number of rows."""

import math
from dataclasses import dataclass

from npu_conformance.corpus.oracles._boxes import Box, left_over
from npu_conformance.corpus.oracles.base import Inputs, OracleOperand, Outputs, Result, present, stored


@dataclass
class _Parameters:
    """The scalar inputs after the scales."""

    regular: bool
    most: int
    most_classes: int
    most_per_class: int
    threshold: float
    overlap: float
    background: bool


Row = tuple[float, Box, int]
"""Score, box, class (0 is the background)."""


def detection_postprocessing(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Scores, boxes and classes with zeros after the last valid row, and the number of valid rows."""
    scores, deltas, anchors, *scalars = map(present, inputs)
    scales = [float(operand.scalar) for operand in scalars[:4]]
    flags = [operand.scalar for operand in scalars[4:]]
    given = _Parameters(
        bool(flags[0]), int(flags[1]), int(flags[2]), int(flags[3]), float(flags[4]), float(flags[5]), bool(flags[6])
    )
    batches, count, classes = scores.dimensions
    width = given.most * (1 if given.regular else given.most_classes)
    found = []
    for batch in range(batches):
        boxes = [_box(anchors, deltas, batch, anchor, scales) for anchor in range(count)]
        table = [[float(scores.at(batch, anchor, label)) for label in range(classes)] for anchor in range(count)]
        found.append((_regular if given.regular else _fast)(boxes, table, given))
    padded = [rows + [(0.0, (0.0,) * 4, 0 if given.background else 1)] * (width - len(rows)) for rows in found]
    every = [row for rows in padded for row in rows]
    offset = 0 if given.background else 1
    return [
        Result((batches, width), [stored(score, outputs[0]) for score, _, _ in every]),
        Result((batches, width, 4), [stored(value, outputs[1]) for _, box, _ in every for value in box]),
        Result((batches, width), [label - offset for _, _, label in every]),
        Result((batches,), [len(rows) for rows in found]),
    ]


def _box(anchors: OracleOperand, deltas: OracleOperand, batch: int, anchor: int, scales: list[float]) -> Box:
    """y1, x1, y2, x2 (hazard box-coordinates: the scales divide)."""
    y, x, height, width = (float(anchors.at(anchor, position)) for position in range(4))
    dy, dx, dh, dw = (float(deltas.at(batch, anchor, position)) / scales[position] for position in range(4))
    y, x = y + height * dy, x + width * dx
    half_height, half_width = height * math.exp(dh) / 2, width * math.exp(dw) / 2
    return y - half_height, x - half_width, y + half_height, x + half_width


def _regular(boxes: list[Box], table: list[list[float]], given: _Parameters) -> list[Row]:
    rows: list[Row] = []
    for label in range(1, len(table[0])):
        candidates = [anchor for anchor, scores in enumerate(table) if scores[label] > given.threshold]
        scores = [table[anchor][label] for anchor in candidates]
        kept = left_over([boxes[anchor] for anchor in candidates], scores, given.overlap, given.most_per_class)
        rows += [(scores[position], boxes[candidates[position]], label) for position in kept]
    return sorted(rows, key=lambda row: row[0], reverse=True)[: given.most]


def _fast(boxes: list[Box], table: list[list[float]], given: _Parameters) -> list[Row]:
    candidates = [anchor for anchor, scores in enumerate(table) if max(scores[1:]) > given.threshold]
    best = [max(table[anchor][1:]) for anchor in candidates]
    rows: list[Row] = []
    for position in left_over([boxes[anchor] for anchor in candidates], best, given.overlap, given.most):
        scores = table[candidates[position]]
        labels = sorted(range(1, len(scores)), key=scores.__getitem__, reverse=True)[: given.most_classes]
        rows += [(scores[label], boxes[candidates[position]], label) for label in labels]
    return rows
