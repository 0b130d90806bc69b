"""TILE: the input repeated along each axis."""

from npu_conformance.corpus.oracles._moves import moved
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, Shape, present


def tile(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, number of repetitions on each axis."""
    source, multiples = present(inputs[0]), present(inputs[1]).integers

    def origin(index: Shape) -> list[int]:
        return [position % size for position, size in zip(index, source.dimensions, strict=True)]

    sizes = zip(source.dimensions, multiples, strict=True)
    return [moved(source, tuple(size * times for size, times in sizes), origin)]
