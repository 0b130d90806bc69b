"""LOGICAL_OR: in0 or in1 with broadcasting; every byte but 0 is true."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Result, elementwise, present


def logical_or(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: two tensors of TENSOR_BOOL8."""
    return elementwise(present(inputs[0]), present(inputs[1]), lambda a, b: int(a != 0 or b != 0))
