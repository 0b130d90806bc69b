"""The generator of RESIZE_BILINEAR."""

import numpy

from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._resizing import Form, Sizes, by_hand, cover, late_sizes_and_rejections, vector
from npu_conformance.corpus.generators.base import Vectors
from npu_conformance.corpus.generators.data import uniform
from npu_conformance.specs.documents.vectors import GeneratorDocument

OPERATION = "RESIZE_BILINEAR"


def vectors() -> Vectors:
    """Pairwise over all parameters; ratios; a case by hand; old versions; all bits; real size; batch 0; rejections."""
    yield from cover(OPERATION, layout=False)
    yield from _by_hand()
    yield from _floats()
    yield from late_sizes_and_rejections(OPERATION)
    yield from long_axes(OPERATION)


def _by_hand() -> Vectors:
    """A row of two elements, 0 and 6, becomes three."""
    sizes = Sizes(1, (1, 2), 1, (1, 3), (1.0, 1.5))
    data = numpy.array([0.0, 6.0]).reshape(1, 1, 2, 1)
    derivations = {
        "plain": ((False,), "positions 0, 2/3 and 4/3, the last of which is beyond the row: 0, 4, 6"),
        "align": ((False, True, False), "positions 0, 1/2 and 1: 0, 3, 6"),
        "half": (
            (False, False, True),
            "positions 1/2 * 2/3 - 1/2 = -1/6 (before the row), 1/2 and 7/6 (beyond it): 0, 3, 6",
        ),
    }
    for name, (flags, derivation) in derivations.items():
        yield by_hand(OPERATION, name, sizes, flags, data, derivation)


def _floats() -> Vectors:
    """Elements that need all their bits, and an image of real size."""
    sizes, form = Sizes(1, (4, 6), 2, (8, 3), (2.0, 0.5)), Form()
    data = uniform(31, (1, 4, 6, 2), 0.5, 1.0)
    yield vector(OPERATION, "float32_all_bits", "float32", sizes, form, data, description="values of 24 bits")
    whole, nhwc = Sizes(1, (48, 40), 3, (24, 80), (0.5, 2.0)), Form(by_factors=True)
    image = GeneratorDocument(kind="dyadic", seed=224, low=-1.0, high=1.0, step=0.125)
    yield vector(OPERATION, "float32_picture", "float32", whole, nhwc, image, hazards=["resize-width-first"])
