"""The oracles against values worked out by hand, from the formulas of the contract."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy
import pytest

from npu_conformance.corpus import oracles
from npu_conformance.corpus.oracles import base
from npu_conformance.corpus.oracles.base import OracleOperand
from npu_conformance.corpus.vectors import ChannelQuant
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

FLOAT32, FLOAT16, INT32 = OperandType.TENSOR_FLOAT32, OperandType.TENSOR_FLOAT16, OperandType.TENSOR_INT32
BOOL8 = OperandType.TENSOR_BOOL8
QUANT8, SIGNED = OperandType.TENSOR_QUANT8_ASYMM, OperandType.TENSOR_QUANT8_ASYMM_SIGNED


def given(kind: OperandType, data: Any, scale: float = 0.0, zero_point: int = 0) -> OracleOperand:
    array = numpy.array(data, OPERAND_TYPES[kind].dtype)
    return OracleOperand(kind, array.shape, scale, zero_point, array=array)


def code(value: int) -> OracleOperand:
    return given(OperandType.INT32, value)


def wanted(kind: OperandType, scale: float = 0.0, zero_point: int = 0) -> OracleOperand:
    return OracleOperand(kind, (), scale, zero_point)


def run(operation: str, inputs: Sequence[OracleOperand], output: OracleOperand) -> tuple[tuple[int, ...], list[Any]]:
    (result,) = oracles.oracle(operation)(inputs, [output])
    return result.dimensions, list(result.raw)


def test_rounding_halves_go_away_from_zero_before_the_zero_point_is_added() -> None:
    assert [base.round_half_away(Fraction(n, 2)) for n in (-3, -1, 0, 1, 3)] == [-2, -1, 0, 1, 2]
    output = wanted(QUANT8, 0.5, 10)
    assert [base.quantized(value, output) for value in (-0.25, 0.25, 200.0, -100.0, math.inf, -math.inf)] == [
        9, 11, 255, 0, 255, 0,
    ]  # fmt: skip


def test_floats_are_rounded_once_and_overflow_to_infinity() -> None:
    assert base.rounded_float(2049.0, FLOAT16) == 2048.0
    assert base.rounded_float(2051.0, FLOAT16) == 2052.0
    assert base.rounded_float(70000.0, FLOAT16) == math.inf
    assert base.rounded_float(-1e39, FLOAT32) == -math.inf
    assert base.rounded_float(0.1, FLOAT32) == 0.10000000149011612


def test_broadcasting_aligns_at_the_last_dimension() -> None:
    assert base.broadcast_shape((2, 1, 3), (4, 1)) == (2, 4, 3)
    assert base.broadcast_shape((1,), (0, 2)) == (0, 2)
    first, second = given(FLOAT32, [[1], [2]]), given(FLOAT32, [10, 20, 30])
    assert run("ADD", [first, second, code(0)], wanted(FLOAT32)) == ((2, 3), [11, 21, 31, 12, 22, 32])
    assert run("SUB", [first, second, code(0)], wanted(FLOAT32)) == ((2, 3), [-9, -19, -29, -8, -18, -28])


def test_quantised_arithmetic_is_that_of_real_values() -> None:
    first, second = given(QUANT8, [10, 12, 255], 0.5, 10), given(QUANT8, [7, 3, 255], 0.25, 3)
    # Real values: 0, 1, 122.5 and 1, 0, 63.
    assert run("ADD", [first, second, code(0)], wanted(QUANT8, 1.0, 5))[1] == [6, 6, 191]
    assert run("SUB", [first, second, code(0)], wanted(QUANT8, 0.5, 100))[1] == [98, 102, 219]
    assert run("MUL", [first, second, code(0)], wanted(QUANT8, 40.0, 0))[1] == [0, 0, 193]


@pytest.mark.parametrize(
    ("activation", "expected"),
    [(0, [-2.0, 0.5, 7.0]), (1, [0.0, 0.5, 7.0]), (2, [-1.0, 0.5, 1.0]), (3, [0.0, 0.5, 6.0])],
)
def test_activations_cut(activation: int, expected: list[float]) -> None:
    zero = given(FLOAT32, [0.0])
    assert run("ADD", [given(FLOAT32, [-2.0, 0.5, 7.0]), zero, code(activation)], wanted(FLOAT32))[1] == expected


def test_activations_cut_stored_values_at_the_rounded_limit() -> None:
    # 1 / 0.3 is 3.33, rounded to 3 quanta; 6 / 0.7 is 8.57, rounded to 9.
    ramp = list(range(94, 116, 3))
    assert run("RELU1", [given(QUANT8, ramp, 0.3, 100)], wanted(QUANT8, 0.3, 100))[1] == [97, 97, 100, *[103] * 5]
    assert run("RELU6", [given(QUANT8, ramp, 0.7, 100)], wanted(QUANT8, 0.7, 100))[1] == [
        100, 100, 100, 103, 106, 109, 109, 109,
    ]  # fmt: skip
    assert run("RELU", [given(SIGNED, [-128, 3, 127], 0.1, 3)], wanted(SIGNED, 0.1, 3))[1] == [3, 3, 127]


def test_int32_wraps_and_divides_downwards() -> None:
    top, bottom = 2**31 - 1, -(2**31)
    assert run("ADD", [given(INT32, [top]), given(INT32, [1]), code(0)], wanted(INT32))[1] == [bottom]
    assert run("SUB", [given(INT32, [bottom]), given(INT32, [1]), code(0)], wanted(INT32))[1] == [top]
    assert run("MUL", [given(INT32, [65537]), given(INT32, [65537]), code(0)], wanted(INT32))[1] == [131073]
    dividends, divisors = given(INT32, [-5, 5, -5, 5]), given(INT32, [2, -2, -2, 2])
    assert run("DIV", [dividends, divisors, code(0)], wanted(INT32))[1] == [-3, -3, 2, 2]


def test_float_division_by_zero_is_that_of_ieee() -> None:
    found = run("DIV", [given(FLOAT32, [1, -1, 0]), given(FLOAT32, [0, 0, 0]), code(0)], wanted(FLOAT32))[1]
    assert found[:2] == [math.inf, -math.inf]
    assert math.isnan(found[2])


def test_extrema_compare_real_values() -> None:
    first, second = given(QUANT8, [10, 20], 1.0, 0), given(QUANT8, [50, 30], 0.25, 2)
    # Real values: 10, 20 and 12, 7.
    assert run("MAXIMUM", [first, second], wanted(QUANT8, 0.5, 1))[1] == [25, 41]
    assert run("MINIMUM", [first, second], wanted(QUANT8, 0.5, 1))[1] == [21, 15]


def test_logistic_and_tanh() -> None:
    inputs = [given(FLOAT32, [0.0, math.inf, -math.inf, math.log(3)])]
    assert run("LOGISTIC", inputs, wanted(FLOAT32))[1] == [0.5, 1.0, 0.0, 0.75]
    assert run("TANH", inputs, wanted(FLOAT32))[1] == pytest.approx([0.0, 1.0, -1.0, 0.8], abs=1e-7)
    bytes_ = [given(QUANT8, [128, 255, 0], 0.5, 128)]
    assert run("LOGISTIC", bytes_, wanted(QUANT8, 1 / 256, 0))[1] == [128, 255, 0]
    assert run("TANH", bytes_, wanted(QUANT8, 1 / 128, 128))[1] == [128, 255, 0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("EQUAL", [0, 1, 0]),
        ("NOT_EQUAL", [1, 0, 1]),
        ("GREATER", [0, 0, 1]),
        ("GREATER_EQUAL", [0, 1, 1]),
        ("LESS", [1, 0, 0]),
        ("LESS_EQUAL", [1, 1, 0]),
    ],
)
def test_comparisons_are_of_real_values(name: str, expected: list[int]) -> None:
    # Real values: -1, 0, 2 and 0, 0, 1.5, of which the last two are stored as 14 and 16.
    first, second = given(QUANT8, [8, 10, 14], 0.5, 10), given(QUANT8, [10, 10, 16], 0.25, 10)
    assert run(name, [first, second], wanted(BOOL8))[1] == expected


def test_quantised_operands_are_compared_in_float32() -> None:
    third, one = base.rounded_float(1 / 3, FLOAT32), given(FLOAT32, [1.0])
    # 3 * float32(1/3) is a little more than 1, and rounds to it.
    assert Fraction(third) * 3 != 1
    whole = given(QUANT8, [1], 1.0, 0)
    assert run("EQUAL", [given(QUANT8, [3], third, 0), whole], wanted(BOOL8))[1] == [1]
    assert run("EQUAL", [one, given(FLOAT32, [math.nan])], wanted(BOOL8))[1] == [0]


def test_truth_values_are_all_bytes_but_zero() -> None:
    first, second = given(BOOL8, [0, 2, 255, 0]), given(BOOL8, [0, 1, 0, 4])
    assert run("LOGICAL_AND", [first, second], wanted(BOOL8))[1] == [0, 1, 0, 0]
    assert run("LOGICAL_OR", [first, second], wanted(BOOL8))[1] == [0, 1, 1, 1]
    assert run("LOGICAL_NOT", [first], wanted(BOOL8))[1] == [1, 0, 0, 1]
    one, other = given(QUANT8, [10, 20, 30, 40], 0.5, 10), given(QUANT8, [1, 2, 3, 4], 2.0, 0)
    assert run("SELECT", [first, one, other], wanted(QUANT8, 1.0, 5))[1] == [7, 10, 15, 13]


def test_functions_of_one_number() -> None:
    values = [given(FLOAT32, [-2.25, 0.0, 0.25, 4.0])]
    assert run("ABS", values, wanted(FLOAT32))[1] == [2.25, 0.0, 0.25, 4.0]
    assert run("NEG", values, wanted(FLOAT32))[1] == [2.25, 0.0, -0.25, -4.0]
    assert run("FLOOR", values, wanted(FLOAT32))[1] == [-3.0, 0.0, 0.0, 4.0]
    assert run("SQRT", values, wanted(FLOAT32))[1][1:] == [0.0, 0.5, 2.0]
    assert run("RSQRT", values, wanted(FLOAT32))[1][1:] == [math.inf, 2.0, 0.5]
    assert run("HARD_SWISH", values, wanted(FLOAT32))[1] == [-0.28125, 0.0, 0.135416671633720398, 4.0]
    logarithms = [given(FLOAT32, [1.0, math.e, 0.0])]
    assert run("LOG", logarithms, wanted(FLOAT32))[1] == pytest.approx([0.0, 1.0, -math.inf], abs=1e-7)
    assert run("EXP", [given(FLOAT32, [0.0, 89.0, -math.inf])], wanted(FLOAT32))[1] == [1.0, math.inf, 0.0]
    assert run("SIN", [given(FLOAT32, [math.pi / 6])], wanted(FLOAT32))[1] == pytest.approx([0.5], abs=1e-7)
    assert run("RSQRT", [given(QUANT8, [14, 11], 0.25, 10)], wanted(QUANT8, 0.5, 3))[1] == [5, 7]


def test_powers_are_those_of_c() -> None:
    bases, exponents = [-2.0, -2.0, 0.0, 0.0, 9.0, 1e30, -1e30], [3.0, 0.5, 0.0, -1.0, 0.5, 2.0, 3.0]
    found = run("POW", [given(FLOAT32, bases), given(FLOAT32, exponents)], wanted(FLOAT32))[1]
    assert math.isnan(found.pop(1))
    assert found == [-8.0, 1.0, math.inf, 3.0, math.inf, -math.inf]


def test_slopes_below_zero() -> None:
    values = given(FLOAT32, [-2.0, 3.0])
    assert run("PRELU", [values, given(FLOAT32, [-0.5])], wanted(FLOAT32))[1] == [1.0, 3.0]
    # min(0, -1 * (e^x - 1)): 0 at -2, 1 - e^3 at 3.
    assert run("ELU", [values, given(FLOAT32, [-1.0])], wanted(FLOAT32))[1] == pytest.approx([0.0, 4 - math.e**3])
    # -1 * 0.5 and 3, in units of 0.25 above 7.
    quantised = [given(QUANT8, [8, 16], 0.5, 10), given(QUANT8, [2], 0.25, 0)]
    assert run("PRELU", quantised, wanted(QUANT8, 0.25, 7))[1] == [5, 19]


def test_dequantize_knows_channels() -> None:
    array = numpy.array([[1, 2], [-3, 127]], "int8")
    channels = ChannelQuant((0.5, 4.0), 1)
    source = OracleOperand(OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL, (2, 2), channel_quant=channels, array=array)
    assert run("DEQUANTIZE", [source], wanted(FLOAT32)) == ((2, 2), [0.5, 8.0, -1.5, 508.0])
    assert run("DEQUANTIZE", [given(QUANT8, [0, 13], 0.1, 3)], wanted(FLOAT16))[1] == [-0.300048828125, 1.0]


def test_cast_takes_stored_values() -> None:
    assert run("CAST", [given(QUANT8, [200], 0.5, 3)], wanted(FLOAT32))[1] == [200.0]
    assert run("CAST", [given(FLOAT32, [-1.5, 1.9, 254.99, 300])], wanted(QUANT8, 0.5, 3))[1] == [0, 1, 254, 255]
    assert run("CAST", [given(FLOAT32, [-1.9, 1.9])], wanted(INT32))[1] == [-1, 1]
    assert run("CAST", [given(INT32, [2**24 + 1])], wanted(FLOAT32))[1] == [2.0**24]


def test_softmax_along_an_axis() -> None:
    beta = given(OperandType.FLOAT32, math.log(2))
    source = given(FLOAT32, [[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    last = run("SOFTMAX", [source, beta], wanted(FLOAT32))[1]
    assert last == pytest.approx([0.2, 0.4, 0.4, 0.25, 0.25, 0.5], abs=1e-7)
    first = run("SOFTMAX", [source, beta, code(0)], wanted(FLOAT32))[1]
    assert first == pytest.approx([1 / 2, 2 / 3, 1 / 2, 1 / 2, 1 / 3, 1 / 2], abs=1e-7)


@pytest.mark.parametrize(
    ("axes", "keep", "shape", "expected"),
    [
        ([0], 0, (3,), [2.5, 3.5, 4.5]),
        ([1], 1, (2, 1), [2.0, 5.0]),
        ([-1, 1, -1], 0, (2,), [2.0, 5.0]),
        ([0, 1], 0, (1,), [3.5]),
        ([1, 0], 1, (1, 1), [3.5]),
    ],
)
def test_mean_over_axes(axes: list[int], keep: int, shape: tuple[int, ...], expected: list[float]) -> None:
    source = given(FLOAT32, [[1, 2, 3], [4, 5, 6]])
    assert run("MEAN", [source, given(INT32, axes), code(keep)], wanted(FLOAT32)) == (shape, expected)


def test_quantised_mean_is_rounded_once() -> None:
    source = given(QUANT8, [255, 255, 254], 0.5, 77)
    assert run("MEAN", [source, given(INT32, [0]), code(0)], wanted(QUANT8, 0.5, 77)) == ((1,), [255])


def test_a_shape_other_than_declared_is_an_error() -> None:
    from npu_conformance.corpus.generators.base import positive
    from npu_conformance.corpus.generators.operands import int32, tensor

    with pytest.raises(ValueError, match=r"output: declared \[3\], the oracle finds \[2\]"):
        positive(
            "sample",
            "ADD",
            {"a": tensor(FLOAT32, (2,), [1, 2]), "b": tensor(FLOAT32, (1,), [3]), "activation": int32(0)},
            {"output": tensor(FLOAT32, (3,))},
        )


def test_pairwise_covers_every_pair_with_few_rows() -> None:
    from npu_conformance.corpus.pairwise import pairwise

    parameters = {"a": [1, 2, 3], "b": "xy", "c": [True, False], "d": range(4)}
    rows = pairwise(parameters)
    names = list(parameters)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            found = {(row[first], row[second]) for row in rows}
            assert found == {(a, b) for a in parameters[first] for b in parameters[second]}
    assert len(rows) <= 14


def test_an_unknown_operation_has_no_oracle() -> None:
    with pytest.raises(KeyError, match="there is no oracle for OEM_OPERATION"):
        oracles.oracle("OEM_OPERATION")


@pytest.mark.parametrize("place", [0, 1])
def test_nan_is_kept_wherever_it_stands(place: int) -> None:
    pair = [math.nan, 2.0][:: 1 - 2 * place]
    for name in ("MAXIMUM", "MINIMUM"):
        first, second = (given(FLOAT32, [one]) for one in pair)
        assert math.isnan(run(name, [first, second], wanted(FLOAT32))[1][0]), name
    for name in ("REDUCE_MAX", "REDUCE_MIN"):
        inputs = [given(FLOAT32, pair), given(INT32, [0]), given(OperandType.BOOL, False)]
        assert math.isnan(run(name, inputs, wanted(FLOAT32))[1][0]), name
    for name in ("ARGMAX", "ARGMIN"):
        assert run(name, [given(FLOAT32, pair), code(0)], wanted(INT32))[1] == [place], name


def test_nan_and_zeros_in_functions_of_one_element() -> None:
    assert run("RSQRT", [given(FLOAT32, [-0.0, 0.0])], wanted(FLOAT32))[1] == [-math.inf, math.inf]
    assert math.isnan(run("ELU", [given(FLOAT32, [math.nan]), given(OperandType.FLOAT32, 1.0)], wanted(FLOAT32))[1][0])
    assert math.isnan(run("DIV", [given(FLOAT32, [math.nan]), given(FLOAT32, [0.0]), code(0)], wanted(FLOAT32))[1][0])
