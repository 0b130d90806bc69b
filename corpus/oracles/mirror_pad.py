"""MIRROR_PAD: the input surrounded by its mirror image, with the border once (REFLECT) or twice (SYMMETRIC)."""

from npu_conformance.corpus.oracles._moves import moved
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, Shape, present

_SYMMETRIC = 1


def mirror_pad(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, paddings [rank, 2] with the number of elements before and after on each axis, mode."""
    source, paddings, mode = map(present, inputs)
    before, after = paddings.integers[::2], paddings.integers[1::2]
    twice = int(mode.scalar) == _SYMMETRIC

    def origin(index: Shape) -> list[int]:
        places = zip(index, before, source.dimensions, strict=True)
        return [_mirrored(position - head, size, twice) for position, head, size in places]

    sizes = zip(source.dimensions, before, after, strict=True)
    return [moved(source, tuple(size + head + tail for size, head, tail in sizes), origin)]


def _mirrored(place: int, size: int, twice: bool) -> int:
    """Where in the input an element comes from that lies at a place before, in or behind it."""
    if place < 0:
        return -place - 1 if twice else -place
    if place >= size:
        return 2 * size - 1 - place if twice else 2 * size - 2 - place
    return place
