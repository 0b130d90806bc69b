"""FILL: the same value everywhere in a tensor of given sizes."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.corpus.oracles.base import OracleOperand, Result, count, present


def fill(inputs: Sequence[OracleOperand | None], outputs: Sequence[OracleOperand]) -> list[Result]:
    """Inputs: sizes, value."""
    sizes, value = map(present, inputs)
    shape = tuple(sizes.integers)
    return [Result(shape, [value.scalar] * count(shape))]
