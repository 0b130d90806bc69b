"""LOGICAL_OR: in0 or in1 with broadcasting; every byte but 0 is true."""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, elementwise, present


def logical_or(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: two tensors of TENSOR_BOOL8."""
    return elementwise(present(inputs[0]), present(inputs[1]), lambda a, b: int(a != 0 or b != 0))
