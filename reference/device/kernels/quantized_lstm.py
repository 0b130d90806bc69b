"""QUANTIZED_LSTM."""

import math

import numpy

from npu_conformance.reference.device.fixed_point import (
    divide_by_power,
    divide_by_root,
    logistic,
    multiply,
    saturate16,
    tanh,
)
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, Tensor, integer, required

_INPUT, _FORGET, _CANDIDATE, _OUTPUT = range(4)
_PEEPHOLES = {_INPUT: 9, _FORGET: 10, _OUTPUT: 11}
_ONE = 2**15 - 1
_INTEGER_BITS = 3
"""Of what the gates are made of, whose unit is 2^-12."""


def quantized_lstm(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """One step of an LSTM cell in int16; cell' = forget * cell + input * tanh(candidate), at most the clip.

    Gates have the unit 2^-15, the cell the power of two that its scale is. The hidden zero point is subtracted.
    """
    old = required(inputs[19])
    exponent = _exponent(old)
    cell = _integers(old)
    forget = logistic(_gate(inputs, _FORGET, cell), _INTEGER_BITS)
    entering = _ONE - forget
    if inputs[1] is not None:
        entering = logistic(_gate(inputs, _INPUT, cell), _INTEGER_BITS)
    candidate = tanh(_gate(inputs, _CANDIDATE, cell), _INTEGER_BITS)
    kept, added = divide_by_power(forget * cell, 15), divide_by_power(entering * candidate, 30 + exponent)
    cell = _clipped(saturate16(kept + added), _real(inputs, 24) / old.scale)
    opened = logistic(_gate(inputs, _OUTPUT, cell), _INTEGER_BITS)
    hidden = multiply(opened * tanh(cell, 15 + exponent), 2.0**-30 / _real(inputs, 31))
    made = _projected(inputs, _int8(hidden - integer(inputs[30]))).astype(numpy.int8)
    return made, cell.astype(numpy.int16), made


def _gate(inputs: Inputs, gate: int, cell: Array) -> Array:
    """Products with input, output state and, through a peephole, the cell state: each rounded, the sums saturated."""
    unit = _real(inputs, 26 + gate)
    x, h = required(inputs[0]), required(inputs[18])
    sums = saturate16(_product(x, required(inputs[1 + gate]), unit))
    sums = saturate16(sums + _product(h, required(inputs[5 + gate]), unit))
    peephole = inputs[_PEEPHOLES[gate]] if gate in _PEEPHOLES else None
    if peephole is not None:
        scale = 2.0 ** _exponent(required(inputs[19])) * peephole.scale / unit
        sums = saturate16(sums + multiply(cell * _integers(peephole), scale))
    norm = inputs[20 + gate]
    return sums if norm is None else _normalized(sums, norm, required(inputs[12 + gate]))


def _product(data: Tensor, weights: Tensor, unit: float) -> Array:
    return multiply((_integers(data) - data.zero_point) @ _integers(weights).T, data.scale * weights.scale / unit)


def _normalized(values: Array, norm: Tensor, bias: Tensor) -> Array:
    """Values with mean 0 and variance 1 in units of 1/1024, weighted, biased, and then in units of 2^-12."""
    units = values.shape[1]
    mean = numpy.fix(values.sum(axis=1, keepdims=True) * 1024 / units).astype(numpy.int64)
    squares = (values**2).sum(axis=1, keepdims=True) * (2**20 // units) - mean**2
    scaled = divide_by_root(values * 1024 - mean, numpy.maximum(squares >> 20, 1))
    weighted = divide_by_power(scaled * _integers(norm) + _integers(bias), 10)
    return saturate16(multiply(weighted, norm.scale * 2**12))


def _projected(inputs: Inputs, hidden: Array) -> Array:
    weights, bias, state = inputs[16], inputs[17], required(inputs[18])
    if weights is None:
        return hidden
    sums = (hidden + integer(inputs[30])) @ _integers(weights).T
    if bias is not None:
        sums += _integers(bias)
    scaled = multiply(sums, weights.scale * _real(inputs, 31) / state.scale)
    return _clipped(_int8(scaled + state.zero_point), _real(inputs, 25) / weights.scale)


def _clipped(values: Array, limit: float) -> Array:
    """Values of at most 16 bits between the limit and its opposite; 0 is no limit."""
    whole = int(min(limit, 2.0**15))
    return numpy.clip(values, -whole, whole) if whole else values


def _exponent(cell: Tensor) -> int:
    return round(math.log2(cell.scale))


def _integers(tensor: Tensor) -> Array:
    return tensor.data.astype(numpy.int64)


def _real(inputs: Inputs, position: int) -> float:
    return float(required(inputs[position]).data.item())


def _int8(values: Array) -> Array:
    return numpy.clip(values, -(2**7), 2**7 - 1)
