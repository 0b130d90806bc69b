"""Types, shapes and data that generators of elementwise operations share."""

import itertools
from collections.abc import Callable

from npu_conformance.corpus.generators.data import integers
from npu_conformance.corpus.generators.types import BOOL8, FLOAT16, FLOAT32, INT32, QUANT8, SIGNED
from npu_conformance.corpus.vectors import Vector

SHORT = {
    FLOAT32: "float32",
    FLOAT16: "float16",
    INT32: "int32",
    BOOL8: "bool8",
    QUANT8: "quant8",
    SIGNED: "quant8_signed",
}
"""How the types are spelled in names of vectors."""

Shape = tuple[int, ...]
SHAPES: dict[str, tuple[Shape, Shape, Shape]] = {
    "same": ((2, 3), (2, 3), (2, 3)),
    "row": ((2, 3), (3,), (2, 3)),
    "column": ((2, 1), (2, 3), (2, 3)),
    "both": ((2, 1, 3), (4, 1), (2, 4, 3)),
    "first_is_one": ((1,), (2, 3, 1, 2), (2, 3, 1, 2)),
    "rank4": ((1, 2, 1, 3), (2, 1, 4, 1), (2, 2, 4, 3)),
}
"""First input, second input, output: asymmetric, so that a mix-up of axes shows."""

RANKS: tuple[Shape, ...] = ((5,), (2, 3), (3, 1, 2), (2, 1, 3, 2))
"""One shape of each rank that most operations take."""


def telling(seed: int, generate: Callable[[int], Vector]) -> Vector:
    """The vector of the first seed from this one on, in steps of 100, whose output is not the same everywhere."""
    for candidate in itertools.count(seed, 100):
        vector = generate(candidate)
        (output,) = vector.examples[0].outputs.values()
        if output.size == 1 or output.min() != output.max():
            return vector
    raise AssertionError("count has no end")


def stored_bytes(seed: int, shape: Shape, shift: int) -> list[int]:
    """Seeded 8-bit elements, smaller by `shift` (128 for the signed type), with both limits among them."""
    values = [int(value) for value in integers(seed, shape, 0, 255).ravel()]
    if len(values) >= 3:
        values[0], values[-1] = 0, 255
    return [value - shift for value in values]


def all_bytes(shift: int) -> list[int]:
    """Every value of an 8-bit type, in an order in which neighbours differ much."""
    return [(position * 37) % 256 - shift for position in range(256)]
