"""RANK: the number of dimensions, whatever the type."""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, present


def rank(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor. The result is a scalar."""
    return [Result((), [len(present(inputs[0]).dimensions)])]
