"""Fixed-point arithmetic on integers held in int64: how Android's own kernels scale sums and approximate curves.

A fixed-point number of 16 bits with k integer bits stands for raw * 2^(k - 15). Products keep the upper half; the
curves are made from a Taylor series of exp below 0 and three steps of Newton's method for a quotient.
"""

import math

import numpy

from npu_conformance.reference.device.tensors import Array

_BITS = 15
_ONE = 2**_BITS - 1
"""The largest number without integer bits, which stands for 1."""

_EIGHTH, _THIRD = 2 ** (_BITS - 3), round(2**_BITS / 3)
_EXP_OF_EIGHTH = round(math.exp(-1 / 8) * 2**_BITS)
_QUOTIENT_BITS = 2
_UNIT = 2 ** (_BITS - _QUOTIENT_BITS)
_NEWTON_START, _NEWTON_SLOPE = round(48 / 17 * _UNIT), round(-32 / 17 * _UNIT)
_NEWTON_STEPS = 3
_ROOT_EXPONENT, _ROOT_BITS = 11, 29
"""Squares are brought to 28 or 29 bits; their number of bits less that, halved, is the power of two."""


def multiply(values: Array, factor: float) -> Array:
    """Scale integers by a positive factor, taken as a number of 31 bits and a power of two; rounded in two steps.

    Scales may be infinite: no result is right then, and 0 is as good as any.
    """
    fraction, exponent = math.frexp(factor) if math.isfinite(factor) else (0.0, 0)
    multiplier = round(fraction * 2**31)
    shifted = values.astype(numpy.int64) << max(exponent, 0)
    return divide_by_power(_high_product(shifted, multiplier, 31), max(-exponent, 0))


def divide_by_root(values: Array, squares: Array) -> Array:
    """values / sqrt(squares), the root's inverse taken as a number of 31 bits and half an even power of two."""
    bits = numpy.frexp(squares.astype(numpy.float64))[1].astype(numpy.int64)
    exponents = numpy.maximum(_ROOT_EXPONENT - (_ROOT_BITS - bits) // 2, 0)
    inverses = numpy.rint(2.0**31 * 2.0**exponents / numpy.sqrt(squares)).astype(numpy.int64)
    return divide_by_power(_high_product(values, numpy.minimum(inverses, 2**31 - 1), 31), exponents)


def divide_by_power(values: Array, exponent: int | Array) -> Array:
    """values / 2^exponent, rounded, halves away from zero."""
    half = numpy.left_shift(numpy.int64(1), exponent) >> 1
    rounded = (numpy.abs(values) + half) >> exponent
    return numpy.asarray(numpy.where(values < 0, -rounded, rounded))


def saturate16(values: Array) -> Array:
    """The nearest integers of 16 bits."""
    return numpy.clip(values, -(2**_BITS), _ONE)


def logistic(values: Array, integer_bits: int) -> Array:
    """1 / (1 + exp(-x)) without integer bits, of x with some."""
    positive = _quotient(_exp_below_zero(-numpy.abs(values), integer_bits))
    result = _shifted_left(positive, _QUOTIENT_BITS - 1)
    result = numpy.where(values > 0, result, _ONE - result)
    return numpy.asarray(numpy.where(values == 0, 2 ** (_BITS - 1), result))


def tanh(values: Array, integer_bits: int) -> Array:
    """tanh(x) without integer bits, of x with some: (1 - exp(-2x)) / (1 + exp(-2x))."""
    quotient = _quotient(_exp_below_zero(-numpy.abs(values), integer_bits + 1))
    result = _shifted_left(quotient - _UNIT, _QUOTIENT_BITS)
    return numpy.asarray(numpy.where(values == 0, 0, numpy.where(values < 0, -result, result)))


def _high_product(first: Array, second: Array | int, bits: int) -> Array:
    """first * second / 2^bits, rounded, halves upwards; of 16 or 32 bits, whose one overflow saturates."""
    rounded = numpy.right_shift(first * second + (1 << (bits - 1)), bits)
    return numpy.asarray(numpy.minimum(rounded, (1 << bits) - 1))


def _product(first: Array, second: Array | int) -> Array:
    return _high_product(first, second, _BITS)


def _shifted_left(values: Array, bits: int) -> Array:
    return saturate16(values << bits)


def _exp_below_zero(values: Array, integer_bits: int) -> Array:
    """exp(x) of x <= 0: of its part in [-1/4, 0), times exp(-2^k) for each further bit of x."""
    fractional_bits = _BITS - integer_bits
    quarter = 1 << fractional_bits >> 2
    part = (values & (quarter - 1)) - quarter
    result = _exp_near_zero(_shifted_left(part, integer_bits))
    rest = part - values
    for exponent in range(-2, integer_bits):
        bit = 1 << (fractional_bits + exponent)
        factor = round(math.exp(-(2.0**exponent)) * 2**_BITS)
        result = numpy.where(rest & bit, _product(result, factor), result)
    return numpy.asarray(numpy.where(values == 0, _ONE, result))


def _exp_near_zero(values: Array) -> Array:
    """exp(x) of x in [-1/4, 0): the series to the fourth power around -1/8."""
    x = values + _EIGHTH
    square = _product(x, x)
    cube, fourth = _product(square, x), _product(square, square)
    series = x + divide_by_power(_product(divide_by_power(fourth, 2) + cube, _THIRD) + square, 1)
    return saturate16(_EXP_OF_EIGHTH + _product(series, _EXP_OF_EIGHTH))


def _quotient(values: Array) -> Array:
    """2 / (1 + x) with two integer bits, of x in [0, 1] without."""
    half_denominator = (values + 2**_BITS) >> 1
    x: Array = _NEWTON_START + _product(half_denominator, _NEWTON_SLOPE)
    for _ in range(_NEWTON_STEPS):
        error = _UNIT - _product(half_denominator, x)
        x = x + _shifted_left(_product(x, error), _QUOTIENT_BITS)
    return x
