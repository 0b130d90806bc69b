"""BOX_WITH_NMS_LIMIT: hard or soft suppression within each class of each batch (hazard suppression-rules)."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from npu_conformance.corpus.oracles._boxes import overlap
from npu_conformance.corpus.oracles.base import Inputs, OracleOperand, Outputs, Result, present, stored

_HARD, _LINEAR, _GAUSSIAN = range(3)


@dataclass
class _Candidate:
    """A box of a class. score: after decay. place: where its four coordinates begin in the rois."""

    label: int
    batch: int
    score: float
    place: int
    box: list[float]


def box_with_nms_limit(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Scores, boxes, classes and batches of what is left; classes ascend, and scores descend, in each batch."""
    scores, rois, batches, *scalars = map(present, inputs)
    threshold, limit, kernel, iou, sigma, lowest = (operand.scalar for operand in scalars)
    rows, classes = scores.dimensions
    most = math.inf if limit < 0 else limit
    decay = _decay(int(kernel), float(iou), float(sigma))
    left: list[_Candidate] = []
    first = 0
    while first < rows:
        batch, end = batches.integers[first], first + 1
        while end < rows and batches.integers[end] == batch:
            end += 1
        kept: list[_Candidate] = []
        for label in range(1, classes):
            entries = [_candidate(scores, rois, row, label, batch) for row in range(first, end)]
            kept += _survivors([one for one in entries if one.score > threshold], decay, float(lowest), most)
        best = sorted(kept, key=lambda one: one.score, reverse=True)
        best = [one for rank, one in enumerate(best) if rank < most]
        for label in range(1, classes):
            left += [one for one in best if one.label == label]
        first = end
    return [
        Result((len(left),), [stored(one.score, outputs[0]) for one in left]),
        Result((len(left), 4), [rois.raw[one.place + position] for one in left for position in range(4)]),
        Result((len(left),), [one.label for one in left]),
        Result((len(left),), [one.batch for one in left]),
    ]


def _candidate(scores: OracleOperand, rois: OracleOperand, row: int, label: int, batch: int) -> _Candidate:
    place = (row * scores.dimensions[1] + label) * 4
    box = [float(rois.reals[place + position]) for position in range(4)]
    return _Candidate(label, batch, float(scores.at(row, label)), place, box)


def _decay(kernel: int, threshold: float, sigma: float) -> Callable[[float], float]:
    def factor(iou: float) -> float:
        if kernel == _GAUSSIAN:
            return math.exp(-iou * iou / sigma)
        if iou < threshold:
            return 1.0
        return 0.0 if kernel == _HARD else 1.0 - iou

    return factor


def _survivors(
    candidates: list[_Candidate], decay: Callable[[float], float], lowest: float, most: float
) -> list[_Candidate]:
    kept: list[_Candidate] = []
    while candidates and len(kept) < most:
        best = max(candidates, key=lambda one: one.score)
        kept.append(best)
        candidates = [one for one in candidates if one is not best]
        for one in candidates:
            one.score *= decay(overlap(best.box, one.box))
        candidates = [one for one in candidates if not one.score < lowest]
    return kept
