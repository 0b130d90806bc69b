"""The generator of RESIZE_NEAREST_NEIGHBOR."""

import numpy

from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._resizing import (
    KINDS,
    SHAPES,
    Form,
    Sizes,
    by_hand,
    cover,
    late_sizes_and_rejections,
    operands,
    seeded,
    vector,
)
from npu_conformance.corpus.generators.base import Vectors, rejected
from npu_conformance.corpus.generators.data import uniform
from npu_conformance.corpus.vectors import Vector

OPERATION = "RESIZE_NEAREST_NEIGHBOR"


def vectors() -> Vectors:
    """Pairwise over all parameters; ratios; a case by hand; exact copies; batch 0; rejections."""
    yield from cover(OPERATION, layout=True)
    yield from _by_hand()
    yield from _copies()
    yield from late_sizes_and_rejections(OPERATION)
    yield _without_layout()
    yield from long_axes(OPERATION)


def _by_hand() -> Vectors:
    """A row of elements 0, 1, 2, 3, 4 becomes another."""
    derivations: dict[str, tuple[int, tuple[bool, ...], str]] = {
        "plain": (2, (False,), "positions 0 and 5/2, rounded down: 0, 2"),
        "align": (3, (False, True, False), "positions 0, 2 and 4"),
        "align_halfway": (
            9,
            (False, True, False),
            "positions 0, 1/2, 1, 3/2 and so on, halves rounded up: 0, 1, 1, 2, 2",
        ),
        "half": (2, (False, False, True), "positions 1/2 * 5/2 = 5/4 and 3/2 * 5/2 = 15/4, rounded down: 1, 3"),
        "half_beyond": (4, (False, False, True), "positions 5/8, 15/8, 25/8 and 35/8, rounded down: 0, 1, 3, 4"),
    }
    for name, (target, flags, derivation) in derivations.items():
        sizes = Sizes(1, (1, 5), 1, (1, target), (1.0, 1.0))
        data = numpy.arange(5.0).reshape(1, 1, 5, 1)
        yield by_hand(OPERATION, name, sizes, flags, data, derivation)


def _copies() -> Vectors:
    """Elements come out bit for bit: those that need all bits, infinities, both ends of bytes."""
    sizes, form = SHAPES["larger"], Form(flags=(False,))
    data = uniform(32, (1, 3, 2, 2))
    yield vector(OPERATION, "float32_all_bits", "float32", sizes, form, data, description="values of 24 bits")
    for kind in KINDS:
        if kind.startswith("float"):
            ends = numpy.array([numpy.inf, -numpy.inf, -0.0, 65504.0, 2.0**-24, -(2.0**-14)])
        else:
            ends = numpy.array([0, 255, 1, 254, 100, 128])
        data = numpy.resize(ends, (1, 3, 2, 2))
        about = "infinities, a negative zero, the largest and the smallest half" if kind.startswith("float") else ""
        yield vector(OPERATION, f"{kind}_ends", kind, sizes, form, data, description=about)


def _without_layout() -> Vector:
    """The layout may not be left off here, unlike in RESIZE_BILINEAR."""
    inputs, outputs = operands("float32", SHAPES["larger"], Form(), seeded("float32", SHAPES["larger"], Form(), 1))
    return rejected("refused_without_layout", OPERATION, inputs, outputs, clause="MODEL.P3", since="1.2")
