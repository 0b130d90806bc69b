"""GENERATE_PROPOSALS: anchors at each place of a grid, decoded, clipped, sifted and suppressed, batch by batch."""

import math

from npu_conformance.corpus.oracles._boxes import Box, clipped, decoded, left_over
from npu_conformance.corpus.oracles._windows import Layout
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present, stored


def generate_proposals(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Scores, boxes and batches of the proposals, by descending score in each batch."""
    scores, deltas, anchors, images, *scalars = map(present, inputs)
    height_stride, width_stride, before, after, threshold, least, nchw = (operand.scalar for operand in scalars)
    score_layout, delta_layout = Layout(scores.dimensions, bool(nchw)), Layout(deltas.dimensions, bool(nchw))
    batches, rows, columns, kinds = score_layout.sizes
    left: list[tuple[int, float, Box]] = []
    for batch in range(batches):
        height, width = (float(images.at(batch, position)) for position in range(2))
        found: list[tuple[float, Box]] = []
        for row in range(rows):
            for column in range(columns):
                for kind in range(kinds):
                    shift = (column * width_stride, row * height_stride) * 2
                    anchor = [float(anchors.at(kind, position)) + shift[position] for position in range(4)]
                    flats = [delta_layout.flat(batch, row, column, kind * 4 + position) for position in range(4)]
                    box = clipped(decoded(anchor, [float(deltas.reals[flat]) for flat in flats]), height, width)
                    found.append((float(scores.reals[score_layout.flat(batch, row, column, kind)]), box))
        found.sort(key=lambda one: one[0], reverse=True)
        best = found[: int(before)] if before > 0 else found
        sifted = [one for one in best if _is_large(one[1], least, height, width)]
        kept = left_over(
            [box for _, box in sifted], [score for score, _ in sifted], threshold, after if after > 0 else math.inf
        )
        left += [(batch, *sifted[position]) for position in kept]
    return [
        Result((len(left),), [stored(score, outputs[0]) for _, score, _ in left]),
        Result((len(left), 4), [stored(value, outputs[1]) for _, _, box in left for value in box]),
        Result((len(left),), [batch for batch, _, _ in left]),
    ]


def _is_large(box: Box, least: float, height: float, width: float) -> bool:
    x1, y1, x2, y2 = box
    return x2 - x1 > least and y2 - y1 > least and (x1 + x2) / 2 < width and (y1 + y2) / 2 < height
