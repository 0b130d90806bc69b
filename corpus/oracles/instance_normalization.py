"""INSTANCE_NORMALIZATION: gamma * (x - mean) / sqrt(variance + epsilon) + beta for each image and channel."""

import math
from fractions import Fraction

from npu_conformance.corpus.oracles.base import Inputs, Outputs, Result, Shape, flatten, indexes, present, stored


def instance_normalization(inputs: Inputs, outputs: Outputs) -> list[Result]:
    """Inputs: tensor, gamma, beta, epsilon, nchw. Mean and variance (divided by their count) are exact fractions."""
    source, *scalars = map(present, inputs)
    gamma, beta, epsilon = (Fraction(operand.scalar) for operand in scalars[:3])
    shape = source.dimensions
    height, width = (2, 3) if scalars[3].scalar else (1, 2)
    groups: dict[Shape, list[int]] = {}
    for index in indexes(shape):
        key = tuple(position for axis, position in enumerate(index) if axis not in (height, width))
        groups.setdefault(key, []).append(flatten(index, shape))
    values: list[int | float] = [0] * len(source.raw)
    for flats in groups.values():
        elements = [Fraction(source.reals[flat]) for flat in flats]
        mean = sum(elements, Fraction()) / len(elements)
        variance = sum(((element - mean) ** 2 for element in elements), Fraction()) / len(elements)
        deviation = math.sqrt(variance + epsilon)
        for flat, element in zip(flats, elements, strict=True):
            values[flat] = stored(float(gamma * (element - mean)) / deviation + float(beta), outputs[0])
    return [Result(shape, values)]
