"""Mistakes that small tensors do not show: behind whole blocks, in later batches, of large or oblong images.

`relations.FAULTS` brings them about in single operations. Each takes the inputs of an operation and its results, and
returns the results with the mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from npu_conformance.reference.device.tensors import Array, Tensor
from npu_conformance.specs.neuralnetworks.enums import OperandType

Inputs = Sequence[Tensor | None]

_BLOCK = 16
_LARGE = 512
"""How many elements a large tensor has."""

_BYTE = 256
_TWO_BYTES = 1 << 16
_COARSE_BITS = 4
_IMAGE_RANK = 4


def tail(inputs: Inputs, results: Sequence[Array]) -> list[Array]:
    """Along the last axis, what is behind whole blocks of 16 is not computed."""
    return [_without(result, -1, result.shape[-1] // _BLOCK * _BLOCK) for result in _in_whole(results)]


def short_tail(inputs: Inputs, results: Sequence[Array]) -> list[Array]:
    """Along the last axis, what is behind whole blocks of 8 is not computed."""
    half = _BLOCK // 2
    return [_without(result, -1, result.shape[-1] // half * half) for result in _in_whole(results)]


def lifted(inputs: Inputs, results: Sequence[Array]) -> list[Array]:
    """After the first 512 elements results are an eighth too large."""
    copies = [numpy.array(result) for result in results]
    for result in copies:
        result.reshape(-1)[_LARGE:] += 0.125
    return copies


def second_batch(inputs: Inputs, results: Sequence[Array]) -> list[Array]:
    """Of large results all batches are the first one."""
    copies = [result.copy() for result in _in_whole(results)]
    for result in copies:
        if result.size > _LARGE:
            result[1:] = result[:1]
    return copies


def late(inputs: Inputs, results: Sequence[Array]) -> list[Array]:
    """What is after the first 512 elements is not computed."""
    return [_without(result.reshape(-1), 0, _LARGE).reshape(result.shape) for result in results]


def oblong(inputs: Inputs, results: Sequence[Array]) -> list[Array]:
    """Of large images that are not square the rows come in opposite order."""
    return [result[:, ::-1] if _is_oblong(result) else result for result in results]


def uneven(inputs: Inputs, results: Sequence[Array]) -> list[Array]:
    """Where the first of two inputs is the larger one, what is after the first 512 elements is not computed."""
    sizes = [tensor.data.size for tensor in inputs[:2] if tensor is not None]
    return late(inputs, results) if sizes[0] > sizes[-1] else list(results)


def asymmetric(inputs: Inputs, results: Sequence[Array]) -> list[Array]:
    """The last element of large results is that of the first input."""
    first, copies = inputs[0], [numpy.array(result) for result in results]
    assert first is not None
    for result in copies:
        if result.size > _LARGE:
            result.flat[-1] = first.data.flat[-1]
    return copies


def nchw(inputs: Inputs, results: Sequence[Array]) -> list[Array]:
    """In NCHW the last channel is not computed."""
    flags = [tensor.data.item() for tensor in inputs if tensor and tensor.operand_type == OperandType.BOOL]
    return [_without(result, 1, result.shape[1] - 1) if any(flags) else result for result in results]


def wrapped(inputs: Inputs, results: Sequence[Array]) -> list[Array]:
    """Along each axis, what is behind the 255th place is what is 256 places before it."""
    copies = [numpy.array(result) for result in results]
    for place, result in enumerate(copies):
        for axis, size in enumerate(result.shape):
            copies[place] = copies[place].take(numpy.arange(size) % _BYTE, axis)
    return copies


def far(inputs: Inputs, results: Sequence[Array]) -> list[Array]:
    """What is behind the 65,536th element of a result is what is 65,536 places before it."""
    places = [numpy.arange(result.size).reshape(result.shape) % _TWO_BYTES for result in results]
    return [result.ravel()[place] for result, place in zip(results, places, strict=True)]


def signed(inputs: Inputs, results: Sequence[Array]) -> list[Array]:
    """Large results of the signed type are 4 steps too small."""
    return [
        numpy.clip(result.astype(int) - 4, -128, 127).astype(result.dtype)
        if result.dtype == "int8" and result.size > _LARGE
        else result
        for result in results
    ]


def coarse(inputs: Inputs, results: Sequence[Array]) -> list[Array]:
    """Large results have four bits of precision."""
    return [_rounded(result) if result.size > _LARGE and result.dtype.kind == "f" else result for result in results]


def _rounded(result: Array) -> Array:
    mantissa, exponent = numpy.frexp(result)
    scaled: Array = numpy.ldexp(numpy.rint(mantissa * 2**_COARSE_BITS) / 2**_COARSE_BITS, exponent)
    return scaled.astype(result.dtype)


def _in_whole(results: Sequence[Array]) -> list[Array]:
    return [result if result.ndim else result.reshape(1) for result in results]


def _without(result: Array, axis: int, end: int) -> Array:
    """The elements before `end` along an axis; the others are 0, as if never written."""
    if end <= 0 or end >= result.shape[axis]:
        return result
    kept: Any = [slice(None)] * result.ndim
    kept[axis] = slice(end, None)
    copy = numpy.array(result)
    copy[tuple(kept)] = 0
    return copy


def _is_oblong(result: Array) -> bool:
    return result.size > _LARGE and result.ndim == _IMAGE_RANK and result.shape[1] != result.shape[2]
