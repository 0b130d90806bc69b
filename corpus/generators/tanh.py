"""The generator of TANH."""

import math

from npu_conformance.corpus.generators import _activations, _rejections
from npu_conformance.corpus.generators.base import Vectors

_OUTPUT = (1 / 128, 128)


def vectors() -> Vectors:
    """Every type and rank; saturation; every stored value; fixed output parameters."""
    yield from _activations.ranks("TANH", -4.0, 4.0)
    yield from _activations.special("TANH", [0.0, math.inf, -math.inf, 50.0, -50.0, 0.0009765625, 9.0, -60000.0])
    yield _activations.tiny("TANH")
    yield from _activations.every_byte(
        "TANH", [(0.03125, 128), (0.01, 10), (0.125, 200)], _OUTPUT, hazards=["fixed-output-quantization"]
    )
    yield from _activations.quantized_ranks("TANH", (0.025, 120), _OUTPUT)
    yield from _activations.without_elements("TANH", _OUTPUT)
    yield from _rejections.unary("TANH", ranks="C1", outputs="C3")
    yield from _rejections.output_quantization("TANH", "C4", _OUTPUT)
