"""TOPK_V2: the k largest elements of each slice along the last axis, descending, and where they are.

Of equal elements the later one comes first here; which does is open, so that no vector compares it.
"""

from npu_conformance.corpus.oracles._rows import rows
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def topk_v2(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, k. Values have the quantisation of the input, so that they stay as they are stored."""
    source, count = map(present, inputs)
    k = int(count.scalar)
    values: list[int | float] = []
    places: list[int] = []
    for row in rows(source.dimensions, -1):
        pairs = sorted(((source.raw[flat], place) for place, flat in enumerate(row)), reverse=True)[:k]
        values += [value for value, _ in pairs]
        places += [place for _, place in pairs]
    shape = (*source.dimensions[:-1], k)
    return [Result(shape, values), Result(shape, places)]
