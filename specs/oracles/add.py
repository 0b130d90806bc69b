"""ADD: out = activation(in0 + in1) with broadcasting; int32 wraps."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.oracles.base import (
    OracleOperand,
    Real,
    Result,
    activated,
    elementwise,
    present,
    wrapped,
)


def add(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: two tensors, activation code."""
    first, second, activation = map(present, inputs)

    def combine(a: Real, b: Real) -> int | float:
        if first.type is OperandType.TENSOR_INT32:
            return wrapped(int(a) + int(b))
        return activated(a + b, int(activation.scalar), outputs[0])

    return elementwise((first, second), combine)
