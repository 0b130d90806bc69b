"""Operations that only move elements: the output's element at a position is the input's at another."""

from collections.abc import Callable, Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Result, Shape, flatten, indexes


def moved(source: OracleOperand, dimensions: Shape, origin: Callable[[Shape], Sequence[int]]) -> Result:
    """The result of a shape whose element at a position is the source's element at `origin(position)`."""
    raw = [source.raw[flatten(origin(index), source.dimensions)] for index in indexes(dimensions)]
    return Result(dimensions, raw)


def padded(source: OracleOperand, paddings: Sequence[int], filler: float) -> Result:
    """The source with `filler` around it. paddings: before and after, axis by axis."""
    before, after = paddings[::2], paddings[1::2]
    sizes = zip(source.dimensions, before, after, strict=True)
    dimensions = tuple(size + head + tail for size, head, tail in sizes)
    raw: list[int | float] = []
    for index in indexes(dimensions):
        inside = [position - head for position, head in zip(index, before, strict=True)]
        within = all(0 <= position < size for position, size in zip(inside, source.dimensions, strict=True))
        raw.append(source.raw[flatten(inside, source.dimensions)] if within else filler)
    return Result(dimensions, raw)
