"""The generator of RELU."""

import math

from npu_conformance.corpus.generators import _activations, _rejections
from npu_conformance.corpus.generators.base import Vectors


def vectors() -> Vectors:
    """Every type and rank on both sides of each limit; every stored value; limits that fall between two quanta."""
    yield from _activations.ranks("RELU", -4.0, 4.0)
    yield from _activations.special("RELU", [0.0, -math.inf, -60000.0, 60000.0, -0.0009765625, 1.0, 6.5])
    yield _activations.tiny("RELU")
    yield from _activations.every_byte(
        "RELU", [(0.5, 100), (0.07, 0), (0.03, 200)], None, hazards=["activation-in-quanta"]
    )
    yield from _activations.quantized_ranks("RELU", (0.07, 90), None)
    yield from _activations.without_elements("RELU", None)
    yield from _rejections.unary("RELU", ranks="C1", outputs="C3")
    yield from _rejections.output_quantization("RELU", "C4", (0.05, 100))
