"""The generator of RELU1."""

import math

from npu_conformance.corpus.generators import _activations, _rejections
from npu_conformance.corpus.generators.base import Vectors


def vectors() -> Vectors:
    """Every type and rank on both sides of each limit; every stored value; limits that fall between two quanta."""
    yield from _activations.ranks("RELU1", -3.0, 3.0)
    yield from _activations.special("RELU1", [0.0, math.inf, -math.inf, 1.0, -1.0, 1.0009765625, -1.0009765625, 0.5])
    yield _activations.tiny("RELU1")
    yield from _activations.every_byte(
        "RELU1", [(0.01, 128), (0.3, 100), (0.007, 20)], None, hazards=["activation-in-quanta"]
    )
    yield from _activations.quantized_ranks("RELU1", (0.012, 90), None)
    yield from _activations.without_elements("RELU1", None)
    yield from _rejections.unary("RELU1", ranks="C1", outputs="C3")
    yield from _rejections.output_quantization("RELU1", "C4", (0.05, 100))
