"""Fingerprints of the oracle and of the reference, and how far the sums of stored vectors are from 0."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from fractions import Fraction

import numpy
import pytest

from npu_conformance.corpus import vectors
from npu_conformance.corpus.oracles._fingerprint import fingerprint64
from npu_conformance.corpus.oracles.base import OracleOperand, present
from npu_conformance.corpus.oracles.lsh_projection import scores
from npu_conformance.corpus.vectors import Vector
from npu_conformance.reference.device.farmhash import fingerprints

PUBLISHED = {
    b"hello": 0xB48BE5A931380CE8,
    b"abcdefgh": 0xFEE9D22990C82909,
    b"a" * 17: 0xF422AA1AF524AE43,
    b"b" * 40: 0xB1D15DB98A5C4A23,
    b"c" * 70: 0x8FD83A4E59785F25,
    b"d" * 200: 0x0CEDFCB1DC7A77F5,
}
"""As the authors' library computes them (through its Python binding)."""


@pytest.mark.parametrize("data", PUBLISHED)
def test_fingerprints_are_those_of_the_published_library(data: bytes) -> None:
    assert fingerprint64(data) == PUBLISHED[data]


def test_a_key_of_three_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match="expected four bytes or more, found 3"):
        fingerprint64(b"abc")


@pytest.mark.parametrize("length", [4, 7, 8, 16, 17, 32, 33, 64, 65, 128, 129, 300])
def test_the_reference_finds_the_same_fingerprints(length: int) -> None:
    keys = numpy.random.default_rng(length).integers(0, 256, (5, length), dtype=numpy.uint8)
    assert fingerprints(keys).tolist() == [fingerprint64(key.tobytes()) for key in keys]


def test_the_sign_of_no_stored_sum_hangs_on_rounding() -> None:
    headers = [header for header in vectors.headers("LSH_PROJECTION") if header.rejected is None]
    for header in headers:
        vector = vectors.load("LSH_PROJECTION", header.name)
        operands = _operands(vector)
        for score, whole in zip(scores(operands), _absolute_scores(operands), strict=True):
            assert score == 0 or abs(score) > whole / 500, header.name


def _absolute_scores(operands: list[OracleOperand | None]) -> Iterator[Fraction]:
    """The sum of the absolute terms of each seed."""
    seeds, source, weights = present(operands[0]), present(operands[1]).array, operands[2]
    assert source is not None
    for seed in seeds.raw:
        keys = [struct.pack("<f", seed) + row.tobytes() for row in source]
        sizes = [min(found, 2**64 - found) for found in map(fingerprint64, keys)]
        numbers = [1.0] * len(keys) if weights is None else weights.raw
        yield sum((abs(Fraction(one)) * size for one, size in zip(numbers, sizes, strict=True)), Fraction())


def _operands(vector: Vector) -> list[OracleOperand | None]:
    values = {name: operand.value for name, operand in vector.operands.items()} | dict(vector.examples[0].inputs)
    found: list[OracleOperand | None] = []
    for name in vector.operations[0].inputs:
        array = values[name]
        kind = vector.operands[name].type
        found.append(None if array is None else OracleOperand(kind, array.shape, array=array))
    return found
