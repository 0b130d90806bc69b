"""RESHAPE: the same elements in the same order with other dimensions."""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, count, present


def reshape(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, shape, in which one -1 stands for what is left over."""
    source, shape = map(present, inputs)
    wanted = shape.integers
    known = count(tuple(size for size in wanted if size != -1))
    left = count(source.dimensions) // known
    return [Result(tuple(left if size == -1 else size for size in wanted), source.raw)]
