"""CHANNEL_SHUFFLE: along an axis cut into groups, the first of each group, then the second of each, and so on."""

from npu_conformance.corpus.oracles._moves import moved
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, Shape, present


def channel_shuffle(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, number of groups, axis (negative counts from the end)."""
    source, groups, axis = present(inputs[0]), int(present(inputs[1]).scalar), int(present(inputs[2]).scalar)
    if axis < 0:
        axis += len(source.dimensions)
    size = source.dimensions[axis] // groups

    def origin(index: Shape) -> Shape:
        member, group = divmod(index[axis], groups)
        return (*index[:axis], group * size + member, *index[axis + 1 :])

    return [moved(source, source.dimensions, origin)]
