"""Operations that move the pixels of blocks: positions are batch, row, column, channel, whatever the layout."""

from collections.abc import Callable

from npu_conformance.corpus.oracles.base import OracleOperand, Result, Shape, flatten, indexes

Pixel = tuple[int, int, int, int]
"""A position, or sizes: batch, row, column, channel."""


def is_channels_first(layout: OracleOperand | None) -> bool:
    """The value of the layout flag; false where it was left off the end of the inputs."""
    return layout is not None and bool(layout.scalar)


def pixel_of(index: Shape, channels_first: bool) -> Pixel:
    """The position that an index of a tensor in some layout stands for."""
    if channels_first:
        batch, channel, row, column = index
    else:
        batch, row, column, channel = index
    return batch, row, column, channel


def moved_pixels(
    source: OracleOperand, channels_first: bool, sizes: Pixel, origin: Callable[[int, int, int, int], Pixel | None]
) -> Result:
    """The result of some sizes: its pixel is the source's at `origin(pixel)`, real zero where that is nothing."""

    def arranged(pixel: Pixel) -> Shape:
        batch, row, column, channel = pixel
        return (batch, channel, row, column) if channels_first else pixel

    raw: list[int | float] = []
    for index in indexes(arranged(sizes)):
        found = origin(*pixel_of(index, channels_first))
        raw.append(source.zero_point if found is None else source.raw[flatten(arranged(found), source.dimensions)])
    return Result(arranged(sizes), raw)
