"""SLICE: a box of the input; a size of -1 goes to the end of the axis."""

from npu_conformance.corpus.oracles._moves import moved
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, Shape, present


def slice(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, first position and size on each axis."""
    source, begin_operand, size_operand = map(present, inputs)
    begin = begin_operand.integers
    boxes = zip(source.dimensions, begin, size_operand.integers, strict=True)
    dimensions = tuple(length - start if size == -1 else size for length, start, size in boxes)

    def origin(index: Shape) -> list[int]:
        return [start + step for start, step in zip(begin, index, strict=True)]

    return [moved(source, dimensions, origin)]
