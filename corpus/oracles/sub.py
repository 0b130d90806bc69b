"""SUB: activation(in0 - in1) with broadcasting; int32 wraps."""

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, arithmetic


def sub(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: minuend, subtrahend, activation code."""
    return arithmetic(inputs, outputs, lambda a, b: a - b, lambda a, b: a - b)
