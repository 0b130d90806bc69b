"""REVERSE: the elements along one axis in the opposite order."""

from npu_conformance.corpus.oracles._moves import moved
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, Shape, present


def reverse(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, a tensor with the axis."""
    source, (axis,) = present(inputs[0]), present(inputs[1]).integers
    last = source.dimensions[axis] - 1

    def origin(index: Shape) -> Shape:
        return (*index[:axis], last - index[axis], *index[axis + 1 :])

    return [moved(source, source.dimensions, origin)]
