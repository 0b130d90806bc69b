"""Operands of matrix products and convolutions whose sums are exact in whatever order and precision they are made."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.corpus.vectors import VectorOperand
from npu_conformance.vts.lib.relations.fixture import RelationFixture
from npu_conformance.vts.lib.relations.nets import BYTES, Tensor, like

_OUTPUT_SCALE = 1 / 2
"""Of quantised products: coarser than the product of two usual scales, fine enough to tell most of them apart."""


def output(fixture: RelationFixture) -> VectorOperand:
    """The result of a product, without its shape."""
    return like(fixture.operand_type, _OUTPUT_SCALE) if fixture.operand_type in BYTES else like(fixture.operand_type)


def weights(fixture: RelationFixture, *shape: int) -> Tensor:
    """Multiples of a half, or quantised bytes."""
    return fixture.steps(*shape, step=0.5)


def bias(fixture: RelationFixture, length: int, *, zero: bool = False) -> Tensor:
    """Multiples of a half, or TENSOR_INT32 of the scale that belongs to two operands of the usual scale."""
    if fixture.operand_type not in BYTES:
        given = fixture.steps(length, step=0.5)
        return given.of(given.array * (not zero))
    numbers = fixture.integers(length, low=-2000, high=2000)
    scale = like(fixture.operand_type).scale ** 2
    return Tensor(replace(numbers.operand, scale=scale), numbers.array * (not zero))
