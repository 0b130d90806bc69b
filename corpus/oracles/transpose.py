"""TRANSPOSE: axis i of the output is axis permutation[i] of the input; without one the axes are reversed.

Hazard: optional-shape-operand.
"""

from npu_conformance.corpus.oracles._moves import moved
from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, Shape, present


def transpose(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, permutation or nothing."""
    source, listed = present(inputs[0]), inputs[1]
    rank = len(source.dimensions)
    permutation = list(range(rank))[::-1] if listed is None else listed.integers

    def origin(index: Shape) -> list[int]:
        position = [0] * rank
        for axis, step in zip(permutation, index, strict=True):
            position[axis] = step
        return position

    return [moved(source, tuple(source.dimensions[axis] for axis in permutation), origin)]
