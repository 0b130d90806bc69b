"""LSH_PROJECTION: signs of weighted sums of fingerprints: a seed, which is an element of hash, and a row's bytes."""

import struct
from collections.abc import Iterator
from fractions import Fraction

from npu_conformance.corpus.oracles._fingerprint import fingerprint64
from npu_conformance.corpus.oracles.base import Inputs, OracleOperand, Outputs, Result, present

DENSE, SPARSE = 2, 3


def lsh_projection(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: seeds, data, weights of its rows (optional), type. Result: bits, or one number of them for each hash."""
    seeds, kind = present(inputs[0]), present(inputs[3]).scalar
    hashes, width = seeds.dimensions
    signs = [int(score > 0) for score in scores(inputs)]
    if kind == DENSE:
        return [Result((hashes * width,), signs)]
    numbers = []
    for place in range(hashes):
        number = 0
        for sign in signs[place * width : (place + 1) * width]:
            number = 2 * number + sign
        numbers.append(number + (place * 2**width if kind == SPARSE else 0))
    return [Result((hashes,), [_signed(number) for number in numbers])]


def scores(inputs: Inputs) -> Iterator[Fraction]:
    """The exact sum of each seed."""
    seeds, source, weights = present(inputs[0]), present(inputs[1]), inputs[2]
    rows = _rows(source)
    for seed in seeds.raw:
        terms = [_term(struct.pack("<f", seed) + row) for row in rows]
        given = [1.0] * len(rows) if weights is None else weights.raw
        yield sum((Fraction(weight) * term for weight, term in zip(given, terms, strict=True)), Fraction(0))


def _rows(source: OracleOperand) -> list[bytes]:
    if source.array is None:
        raise ValueError("the data has no elements")
    data = source.array.tobytes()
    size = len(data) // source.dimensions[0]
    return [data[start : start + size] for start in range(0, len(data), size)]


def _term(key: bytes) -> int:
    """The fingerprint as a signed number."""
    found = fingerprint64(key)
    return found - 2**64 if found >= 2**63 else found


def _signed(number: int) -> int:
    """The low 32 bits in two's complement."""
    return (number + 2**31) % 2**32 - 2**31
