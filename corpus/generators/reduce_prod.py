"""The generator of REDUCE_PROD."""

import math

import numpy

from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._reductions import SHORT, Shape, cases, reduction, rejections
from npu_conformance.corpus.generators.base import Vectors
from npu_conformance.corpus.generators.data import uniform
from npu_conformance.corpus.generators.operands import OperandSpec, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32
from npu_conformance.specs.neuralnetworks.enums import OperandType

_OPERATION = "REDUCE_PROD"
_FACTORS = (-2.0, -1.0, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0)
"""Twelve of them multiply to what float16 can hold, by few roundings in any order."""


def vectors() -> Vectors:
    """What all reductions have; a zero factor among finite ones; infinities without one; products of all bits.

    What a zero and an infinity give is left out: IEEE says NaN, Android's own implementation 0.
    """
    yield from cases(_OPERATION, (FLOAT32, FLOAT16), _factors)
    for kind in (FLOAT32, FLOAT16):
        zeros = [0.0, 3.0, -2.0, 4.0, 2.0, -1.5, 0.0, 0.0, 1.0]
        source = tensor(kind, (3, 3), zeros)
        about = "a factor of 0 makes the product 0"
        yield reduction(f"{SHORT[kind]}_zeros", _OPERATION, source, (1,), False, about, hazard="reduction-start-value")
        infinite = [math.inf, 2.0, -0.5, -math.inf, math.inf, -1.0]
        source = tensor(kind, (2, 3), infinite)
        yield reduction(f"{SHORT[kind]}_infinities", _OPERATION, source, (1,), True, hazard="reduction-start-value")
    source = tensor(FLOAT32, (2, 7), uniform(4, (2, 7), 0.5, 2.0))
    yield reduction("float32_all_bits", _OPERATION, source, (0,), False, "float16 inside would round bits away")
    yield from rejections(_OPERATION, FLOAT32, _factors)
    yield from long_axes(_OPERATION)


def _factors(kind: OperandType, shape: Shape, seed: int) -> OperandSpec:
    return tensor(kind, shape, numpy.random.default_rng(seed).choice(_FACTORS, shape))
