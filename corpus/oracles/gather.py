"""GATHER: slices of the input along an axis, chosen by a tensor of indices whose shape takes the axis's place."""

from npu_conformance.corpus.oracles._moves import moved
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, Shape, flatten, present


def gather(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, axis (negative counts from the end), indices of any rank."""
    source, axis_operand, indices = map(present, inputs)
    axis = int(axis_operand.scalar)
    if axis < 0:
        axis += len(source.dimensions)
    behind = axis + len(indices.dimensions)

    def origin(index: Shape) -> Shape:
        chosen = indices.integers[flatten(index[axis:behind], indices.dimensions)]
        return (*index[:axis], chosen, *index[behind:])

    dimensions = (*source.dimensions[:axis], *indices.dimensions, *source.dimensions[axis + 1 :])
    return [moved(source, dimensions, origin)]
