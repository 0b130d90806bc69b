"""The generator of LOGISTIC."""

import math

from npu_conformance.corpus.generators import _activations, _rejections
from npu_conformance.corpus.generators.base import Vectors

_OUTPUT = (1 / 256, 0)


def vectors() -> Vectors:
    """Every type and rank; saturation; every stored value; fixed output parameters."""
    yield from _activations.ranks("LOGISTIC", -8.0, 8.0)
    yield from _activations.special("LOGISTIC", [0.0, math.inf, -math.inf, 100.0, -100.0, 88.75, -88.75, 60000.0])
    yield _activations.tiny("LOGISTIC")
    yield from _activations.every_byte(
        "LOGISTIC", [(0.0625, 128), (0.02, 10), (0.25, 200)], _OUTPUT, hazards=["fixed-output-quantization"]
    )
    yield from _activations.quantized_ranks("LOGISTIC", (0.05, 120), _OUTPUT)
    yield from _activations.without_elements("LOGISTIC", _OUTPUT)
    yield from _rejections.unary("LOGISTIC", ranks="C1", outputs="C3")
    yield from _rejections.output_quantization("LOGISTIC", "C4", _OUTPUT)
