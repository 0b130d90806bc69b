"""The formulas of the reference's own operations."""

from __future__ import annotations

import functools
import struct
import zlib
from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.quantization import round_half_away
from npu_conformance.reference.device.registry import Kernel
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, integer, required

PARAMETERS = struct.Struct("<dq")
"""Of TENSOR_FIBONACCI_QUANT64: scale and zero point."""

COUNTS = range(1, 80)
"""How many numbers there may be."""


@functools.lru_cache(maxsize=8)
def sequence(count: int) -> Array:
    """The first `count` Fibonacci numbers, which a float64 holds exactly."""
    numbers = numpy.empty(max(count, 2), numpy.float64)
    numbers[:2] = 0, 1
    for index in range(2, count):
        numbers[index] = numbers[index - 1] + numbers[index - 2]
    return numbers[:count]


def fibonacci(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """numbers[i] = round(F(i) / scale) + zero point, saturated."""
    scale, zero_point = PARAMETERS.unpack(outputs[0].extension)
    limits = numpy.iinfo(numpy.int64)
    stored = numpy.minimum(round_half_away(sequence(integer(inputs[0])) / scale), float(limits.max))
    return (numpy.array([min(max(int(value) + zero_point, limits.min), limits.max) for value in stored], numpy.int64),)


def dequantize(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """real[i] = (numbers[i] - zero point) * scale."""
    source = required(inputs[0])
    scale, zero_point = PARAMETERS.unpack(source.extension)
    return (((source.data.astype(numpy.float64) - zero_point) * scale).astype(numpy.float32),)


def echo_parameters(inputs: Sequence[Tensor | None], outputs: Sequence[OutputInfo]) -> tuple[Array, ...]:
    """Length of the parameters in bytes, and their CRC-32."""
    data = required(inputs[0]).extension
    return (numpy.array([len(data), zlib.crc32(data)], numpy.uint32).view(numpy.int32),)


KERNELS: dict[str, Kernel] = {
    "FIBONACCI": fibonacci,
    "FIBONACCI_DEQUANTIZE": dequantize,
    "ECHO_PARAMETERS": echo_parameters,
}
"""By the names of the catalogues."""
