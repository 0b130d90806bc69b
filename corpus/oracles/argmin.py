"""ARGMIN: the index of the smallest element along an axis; of equal ones the smallest index."""

from functools import partial, reduce

from npu_conformance.corpus.oracles._rows import indexes_of
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, smaller


def argmin(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, axis (negative ones count from the end)."""
    return indexes_of(partial(reduce, smaller), inputs)
