"""SPLIT: the input cut into equal parts along an axis."""

from npu_conformance.corpus.oracles._moves import moved
from npu_conformance.corpus.oracles.base import Inputs, OracleOperand, Outputs, Result, Shape, present


def split(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, axis (negative counts from the end), number of parts."""
    source, axis_operand, parts_operand = map(present, inputs)
    axis, parts = int(axis_operand.scalar), int(parts_operand.scalar)
    if axis < 0:
        axis += len(source.dimensions)
    size = source.dimensions[axis] // parts
    return [_part(source, axis, part * size, size) for part in range(parts)]


def _part(source: OracleOperand, axis: int, start: int, size: int) -> Result:
    def origin(index: Shape) -> Shape:
        return (*index[:axis], index[axis] + start, *index[axis + 1 :])

    return moved(source, (*source.dimensions[:axis], size, *source.dimensions[axis + 1 :]), origin)
