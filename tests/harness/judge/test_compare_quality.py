"""The quality verdict sees what the floor lets through, and leaves honest results alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npu_conformance.harness.judge.quality import Exact, allowed_ulp, judge, one_sided


def products(length: int, seed: int = 3) -> tuple[Any, Exact]:
    generator = np.random.default_rng(seed)
    a, b = generator.normal(size=(2, 16, length)).astype(np.float32)
    exact = a.astype(np.float64) * b
    return (a, b), Exact(exact.sum(1), length, np.abs(exact).sum(1))


@pytest.mark.parametrize("length", [1, 7, 64, 768, 3072])
@pytest.mark.parametrize("order", ["forward", "backward", "pairwise", "float64"])
def test_honest_sums_are_left_alone(length: int, order: str) -> None:
    (a, b), exact = products(length)
    terms = a * b
    if order == "float64":
        total = exact.values.astype(np.float32)
    elif order == "pairwise":
        total = terms.sum(1)
    else:
        total = np.cumsum(terms if order == "forward" else terms[:, ::-1], axis=1)[:, -1]
    assert judge(total, exact, "FULLY_CONNECTED") == []


@pytest.mark.parametrize("length", [1, 7, 64, 768, 3072])
def test_float16_inside_float32_is_noticed(length: int) -> None:
    (a, b), exact = products(length)
    rounded = a.astype(np.float16).astype(np.float32) * b.astype(np.float16).astype(np.float32)
    assert judge(rounded.sum(1), exact, "FULLY_CONNECTED")


def test_a_result_stored_through_float16_is_noticed() -> None:
    _, exact = products(4)
    through = exact.values.astype(np.float16).astype(np.float32)
    assert any("float16" in line for line in judge(through, exact, "FULLY_CONNECTED"))


@pytest.mark.parametrize("operation", ["ADD", "MUL", "LOGISTIC", "SOFTMAX", "TANH", "MEAN"])
def test_a_drift_of_one_in_ten_thousand_is_noticed(operation: str) -> None:
    values = np.linspace(0.1, 3.0, 50)
    drifted = (values * (1 + 1e-4)).astype(np.float32)
    assert judge(drifted, Exact(values, 50), operation)
    assert judge(values.astype(np.float32), Exact(values, 50), operation) == []


def test_a_lost_sign_of_zero_is_noticed_where_it_is_fixed() -> None:
    exact = Exact(np.array([-0.0, 0.0, 1.0]))
    lost = np.array([0.0, 0.0, 1.0], np.float32)
    assert judge(lost, exact, "MUL") == ["MUL: 1 of 2 zeros have the wrong sign"]
    assert judge(lost, exact, "RELU") == []
    assert judge(lost, Exact(exact.values, activation=True), "MUL") == []


def test_copies_are_exact() -> None:
    values = np.array([1.0, 2.0])
    assert judge(np.nextafter(values.astype(np.float32), np.float32(9)), Exact(values), "RESHAPE")


def test_special_values() -> None:
    exact = Exact(np.array([1e39, 1e-45, np.inf, np.nan]))
    assert judge(np.array([np.inf, 0.0, np.inf, np.nan], np.float32), exact, "MUL") == []
    assert judge(np.array([np.inf, np.nan], np.float32), Exact(np.array([np.inf, np.nan])), "RESHAPE") == []
    assert judge(np.array([np.nan], np.float32), Exact(np.array([1.0])), "MUL")


def test_a_relaxed_model_may_use_float16() -> None:
    values = np.linspace(0.1, 3.0, 50)
    through = values.astype(np.float16).astype(np.float32)
    assert judge(through, Exact(values), "ADD", relaxed=True) == []
    assert judge(through, Exact(values), "ADD")


def test_the_bound_grows_slowly_with_the_reduction() -> None:
    assert allowed_ulp("CONV_2D", 1) < allowed_ulp("CONV_2D", 100) < allowed_ulp("CONV_2D", 10_000) < 839


def _off_by(steps: list[int], zero_point: int = 0) -> str:
    import numpy

    expected = numpy.array([10, -20, 30, -40] * 6, dtype=numpy.int8)
    return one_sided((expected + numpy.resize(steps, expected.shape)).astype(numpy.int8), expected, zero_point, "ADD")


def test_quantised_results_that_are_rounded_down_are_warned_of() -> None:
    assert "24 of 24 quantised elements are off, all to one side, by 1 steps in the mean" in _off_by([-1])
    assert "12 of 24 quantised elements are off, all to one side" in _off_by([-1, 0])
    assert "12 of 24 quantised elements are off, all to one side" in _off_by([1, 0])


def test_quantised_results_that_are_truncated_are_warned_of() -> None:
    assert "24 of 24 quantised elements are off, all to the side of 0" in _off_by([-1, 1])


def test_quantised_results_that_are_off_by_chance_are_not() -> None:
    assert not _off_by([0])
    assert not _off_by([1, 1, -1, -1])
    assert not _off_by([-1, 0, 0, 0, 0, 0])  # as fixed-point multipliers are
    assert not _off_by([1, -1])  # away from 0, which is no truncation
