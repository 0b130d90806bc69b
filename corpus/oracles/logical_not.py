"""LOGICAL_NOT: 1 where the byte is 0, else 0."""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, each


def logical_not(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: one tensor of TENSOR_BOOL8."""
    return each(inputs[0], outputs[0], lambda x: int(x == 0))
