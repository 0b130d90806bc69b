"""STRIDED_SLICE: on each axis the positions begin, begin + stride, ... that lie before end.

Hazard: strided-slice-ends.
"""

import itertools

from npu_conformance.corpus.oracles.base import Inputs, OracleOperand, Outputs, Result, flatten, present


def strided_slice(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, begin, end, strides, and three bit masks: begin ignored, end ignored, axis removed."""
    source, begin, end, strides, begin_mask, end_mask, shrink_mask = map(present, inputs)
    positions = [
        _positions(
            size,
            None if _bit(begin_mask, axis) else begin.integers[axis],
            None if _bit(end_mask, axis) else end.integers[axis],
            strides.integers[axis],
        )
        for axis, size in enumerate(source.dimensions)
    ]
    kept = tuple(len(places) for axis, places in enumerate(positions) if not _bit(shrink_mask, axis))
    raw = [source.raw[flatten(index, source.dimensions)] for index in itertools.product(*positions)]
    return [Result(kept or (1,), raw)]


def _bit(mask: OracleOperand, axis: int) -> bool:
    return bool(int(mask.scalar) >> axis & 1)


def _positions(size: int, begin: int | None, end: int | None, stride: int) -> list[int]:
    """Forwards all positions from the first allowed to the last, backwards the other way; None is the widest."""
    lowest, highest = (0, size) if stride > 0 else (-1, size - 1)
    first, last = (lowest, highest) if stride > 0 else (highest, lowest)
    start = first if begin is None else _clamped(begin, size, lowest, highest)
    stop = last if end is None else _clamped(end, size, lowest, highest)
    return list(range(start, stop, stride))


def _clamped(position: int, size: int, lowest: int, highest: int) -> int:
    return min(max(position + size if position < 0 else position, lowest), highest)
