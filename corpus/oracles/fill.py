"""FILL: the same value everywhere in a tensor of given sizes."""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, count, present


def fill(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: sizes, value."""
    sizes, value = map(present, inputs)
    shape = tuple(sizes.integers)
    return [Result(shape, [value.scalar] * count(shape))]
