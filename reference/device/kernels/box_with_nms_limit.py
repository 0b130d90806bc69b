"""BOX_WITH_NMS_LIMIT."""

import itertools
from collections.abc import Callable, Iterator

import numpy

from npu_conformance.reference.device.boxes import overlaps
from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, integers, required

Decay = Callable[[Array], Array]
"""Factor of a score for the overlap of its box with a better one."""

Kept = tuple[int, float, int]
"""A class, a score after decay, and a roi."""


def box_with_nms_limit(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """In each batch the boxes that survive the suppression within their class, the best max_detections of them."""
    scores, batches, most = real(required(inputs[0])), integers(inputs[2]), integer(inputs[4])
    stored = required(inputs[1]).data.reshape(*scores.shape, 4)
    boxes = real(required(inputs[1])).reshape(stored.shape)
    threshold, overlap, sigma, lowest = (float(required(inputs[i]).data.item()) for i in (3, 6, 7, 8))
    limit, decay = most if most >= 0 else scores.size, _decay(integer(inputs[5]), overlap, sigma)
    found: list[tuple[int, Kept]] = []
    for batch, run in itertools.groupby(range(len(batches)), key=batches.__getitem__):
        rois, kept = list(run), []
        for label in range(1, scores.shape[1]):
            candidates = [roi for roi in rois if scores[roi, label] > threshold]
            survivors = _suppressed(boxes[candidates, label], scores[candidates, label], decay, lowest)
            best = itertools.islice(survivors, limit)
            kept += [(label, score, candidates[position]) for position, score in best]
        kept = sorted(kept, key=lambda one: -one[1])[:limit]
        found += [(batch, one) for one in sorted(kept, key=lambda one: (one[0], -one[1]))]
    labels = numpy.array([label for _, (label, _, _) in found], numpy.int32)
    chosen = numpy.array([roi for _, (_, _, roi) in found], numpy.int32)
    values = numpy.array([score for _, (_, score, _) in found])
    of_batch = numpy.array([batch for batch, _ in found], numpy.int32)
    return store(values, outputs[0]), stored[chosen, labels], labels, of_batch


def _decay(kernel: int, threshold: float, sigma: float) -> Decay:
    """The kernel by its number: hard, linear, gaussian."""
    return (
        lambda overlap: numpy.where(overlap < threshold, 1.0, 0.0),
        lambda overlap: numpy.where(overlap < threshold, 1.0, 1.0 - overlap),
        lambda overlap: numpy.exp(-overlap * overlap / sigma),
    )[kernel]


def _suppressed(boxes: Array, scores: Array, decay: Decay, lowest: float) -> Iterator[tuple[int, float]]:
    """Positions and scores, best first; each decays the others, and those below the lowest score go."""
    left, scores = numpy.arange(len(scores)), scores.copy()
    while left.size:
        best = left[scores[left].argmax()]
        yield int(best), float(scores[best])
        left = left[left != best]
        scores[left] *= decay(overlaps(boxes[best], boxes[left]))
        left = left[~(scores[left] < lowest)]
