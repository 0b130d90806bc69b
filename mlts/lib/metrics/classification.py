"""Classes by score: top-k, and whether two engines choose the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array


def hits(scores: Array, labels: Array, k: int = 1) -> Array:
    """True for each item whose label is among its k best classes [items].

    scores: [items, classes]; labels: [items]. Of equal scores the class of the lower index is the better one, as with
    the argmax of the operation catalogue; a score that is no number is the worst. Raises ValueError for k outside of 1
    and the number of classes, and for a label that is no class.
    """
    _check(scores, labels, k)
    values = numpy.where(numpy.isnan(scores), -numpy.inf, scores.astype(numpy.float64))
    ranked = numpy.argsort(-values, axis=1, kind="stable")[:, :k]
    # No class is chosen by scores none of which is a number.
    decided = ~numpy.isnan(scores).all(axis=1)
    chosen: Array = numpy.logical_and((ranked == labels[:, None]).any(axis=1), decided)
    return chosen


def same_choice(found: Array, baseline: Array) -> Array:
    """True for each item for which two engines choose the same class [items].

    Where several classes share the best score of one of them, the other may choose any of these: 8-bit scores are
    often equal, and which comes first is nobody's error. found, baseline: [items, classes]. An item one of whose scores
    is no number is no agreement.
    """
    _same_shape(found, baseline)
    either = _chooses_a_best(found, baseline) | _chooses_a_best(baseline, found)
    numbers: Array = numpy.asarray(~(numpy.isnan(found) | numpy.isnan(baseline)).any(axis=1))
    return numbers & either


def _chooses_a_best(found: Array, other: Array) -> Array:
    """True for each item whose first best class is a best one of the other too."""
    first: Array = numpy.asarray(found.argmax(axis=1))
    chosen = numpy.take_along_axis(other, first[:, None], axis=1)[:, 0]
    best: Array = numpy.asarray(chosen == other.max(axis=1))
    return best


def cosine(found: Array, baseline: Array) -> Array:
    """The cosine between the outputs of two engines, for each item [items]; arrays: [items, ...].

    1 where both are 0, 0 where one of them is, or is not finite.
    """
    _same_shape(found, baseline)
    first, second = (array.reshape(len(array), -1).astype(numpy.float64) for array in (found, baseline))
    finite: Array = numpy.asarray(numpy.isfinite(first + second).all(axis=1))
    first, second = (numpy.where(finite[:, None], array, 0.0) for array in (first, second))
    lengths = numpy.linalg.norm(first, axis=1), numpy.linalg.norm(second, axis=1)
    product = lengths[0] * lengths[1]
    shares = (first * second).sum(axis=1) / numpy.where(product > 0, product, 1.0)
    both_zero = finite & (lengths[0] == 0) & (lengths[1] == 0)
    return numpy.where(both_zero, 1.0, shares)


def _check(scores: Array, labels: Array, k: int) -> None:
    if scores.ndim != 2 or labels.shape != scores.shape[:1] or not len(scores):
        raise ValueError(f"expected scores [items, classes] and labels [items], found {scores.shape}, {labels.shape}")
    if not 1 <= k <= scores.shape[1]:
        raise ValueError(f"top {k} of {scores.shape[1]} classes")
    if labels.min() < 0 or labels.max() >= scores.shape[1]:
        raise ValueError(f"labels from {labels.min()} to {labels.max()}, there are {scores.shape[1]} classes")


def _same_shape(found: Array, baseline: Array) -> None:
    if found.shape != baseline.shape or not found.size:
        raise ValueError(f"expected two arrays of one shape with elements, found {found.shape} and {baseline.shape}")
