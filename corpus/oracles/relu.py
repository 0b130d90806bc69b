"""RELU: max(0, x) of each element; the output is quantised as the input."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Result, activated, present
from npu_conformance.specs.neuralnetworks.enums import FusedActivation


def relu(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: one tensor."""
    source = present(inputs[0])
    values = [activated(source.real(i), FusedActivation.RELU, outputs[0]) for i in range(len(source.raw))]
    return [Result(source.dimensions, values)]
