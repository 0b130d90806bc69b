"""The generator of RELU6."""

import math

from npu_conformance.corpus.generators import _activations, _rejections
from npu_conformance.corpus.generators.base import Vectors


def vectors() -> Vectors:
    """Every type and rank on both sides of each limit; every stored value; limits that fall between two quanta."""
    yield from _activations.ranks("RELU6", -4.0, 10.0)
    yield from _activations.special("RELU6", [0.0, math.inf, -math.inf, 6.0, 6.00390625, 5.99609375, -1.0, 60000.0])
    yield _activations.tiny("RELU6")
    yield from _activations.every_byte(
        "RELU6", [(0.05, 30), (0.7, 100), (0.02, 200)], None, hazards=["activation-in-quanta"]
    )
    yield from _activations.quantized_ranks("RELU6", (0.035, 60), None)
    yield from _activations.without_elements("RELU6", None)
    yield from _rejections.unary("RELU6", ranks="C1", outputs="C3")
    yield from _rejections.output_quantization("RELU6", "C4", (0.05, 100))
