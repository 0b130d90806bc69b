"""LOGICAL_AND: in0 and in1 with broadcasting; every byte but 0 is true."""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, elementwise, present


def logical_and(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: two tensors of TENSOR_BOOL8."""
    return elementwise(present(inputs[0]), present(inputs[1]), lambda a, b: int(a != 0 and b != 0))
