"""Operations that only move elements: the output's element at a position is the input's at another."""

from collections.abc import Callable, Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Result, Shape, indexes


def moved(source: OracleOperand, dimensions: Shape, origin: Callable[[Shape], Sequence[int]]) -> Result:
    """The result of a shape whose element at a position is the source's element at `origin(position)`."""
    return Result(dimensions, [source.raw_at(origin(index)) for index in indexes(dimensions)])


def padded(source: OracleOperand, paddings: Sequence[int], filler: float) -> Result:
    """The source with `filler` around it. paddings: before and after, axis by axis."""
    before, after = paddings[::2], paddings[1::2]
    sizes = zip(source.dimensions, before, after, strict=True)
    dimensions = tuple(size + head + tail for size, head, tail in sizes)
    raw: list[int | float] = []
    for index in indexes(dimensions):
        inside = [position - head for position, head in zip(index, before, strict=True)]
        within = all(0 <= position < size for position, size in zip(inside, source.dimensions, strict=True))
        raw.append(source.raw_at(inside) if within else filler)
    return Result(dimensions, raw)
