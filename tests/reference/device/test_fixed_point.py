"""Fixed-point arithmetic against what it approximates, over all numbers of 16 bits."""

from __future__ import annotations

import numpy
import pytest

from npu_conformance.reference.device import fixed_point

ALL = numpy.arange(-(2**15), 2**15)
ONE = 2.0**15


@pytest.mark.parametrize("integer_bits", range(7))
def test_curves_are_close_to_the_real_ones(integer_bits: int) -> None:
    real = ALL * 2.0 ** (integer_bits - 15)
    assert numpy.abs(fixed_point.tanh(ALL, integer_bits) - numpy.tanh(real) * ONE).max() < 13
    assert numpy.abs(fixed_point.logistic(ALL, integer_bits) - ONE / (1 + numpy.exp(-real))).max() < 7


def test_curves_are_symmetric() -> None:
    positive = numpy.arange(1, 2**15)
    assert (fixed_point.tanh(-positive, 3) == -fixed_point.tanh(positive, 3)).all()
    both = fixed_point.logistic(-positive, 3) + fixed_point.logistic(positive, 3)
    assert set(both.tolist()) == {2**15 - 1}
    assert fixed_point.tanh(numpy.array([0]), 3) == 0
    assert fixed_point.logistic(numpy.array([0]), 3) == 2**14


@pytest.mark.parametrize("exponent", [0, 1, 3])
def test_division_rounds_halves_away_from_zero(exponent: int) -> None:
    values = numpy.arange(-40, 41)
    scaled = values / 2.0**exponent
    expected = numpy.copysign(numpy.floor(numpy.abs(scaled) + 0.5), values)
    assert (fixed_point.divide_by_power(values, exponent) == expected).all()


@pytest.mark.parametrize("factor", [0.3, 1.0, 2.0, 7.7, 1e-3])
def test_multiplication_is_within_one_of_the_real_product(factor: float) -> None:
    values = numpy.arange(-5000, 5000, 7)
    assert numpy.abs(fixed_point.multiply(values, factor) - values * factor).max() <= 0.75


@pytest.mark.parametrize("factor", [float("inf"), float("nan")])
def test_a_factor_without_end_is_survived(factor: float) -> None:
    assert not fixed_point.multiply(numpy.array([-3, 0, 3]), factor).any()


def test_two_roundings_differ_from_one() -> None:
    """32256 / sqrt(656) is 1259.39; in halves of halves it is 5038 / 4, and so 1260."""
    assert fixed_point.divide_by_root(numpy.array([[32256]]), numpy.array([[656]])) == 1260


@pytest.mark.parametrize("square", [1, 2, 3, 100, 2**27, 2**29, 2**31])
def test_division_by_a_root(square: int) -> None:
    values = numpy.array([[2**24, -(2**20), 12345]])
    found = fixed_point.divide_by_root(values, numpy.array([[square]]))
    assert numpy.abs(found - values / numpy.sqrt(square)).max() < 0.76
