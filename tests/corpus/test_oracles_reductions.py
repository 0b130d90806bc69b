"""The oracles of reductions and normalisations against values worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy
import pytest

from npu_conformance.corpus import oracles
from npu_conformance.corpus.oracles.base import OracleOperand
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

FLOAT32, INT32, QUANT8 = OperandType.TENSOR_FLOAT32, OperandType.TENSOR_INT32, OperandType.TENSOR_QUANT8_ASYMM
BOOL8 = OperandType.TENSOR_BOOL8


def given(kind: OperandType, data: Any, scale: float = 0.0, zero_point: int = 0) -> OracleOperand:
    array = numpy.array(data, OPERAND_TYPES[kind].dtype)
    return OracleOperand(kind, array.shape, scale, zero_point, array=array)


def run(operation: str, inputs: Sequence[Any], *outputs: OracleOperand) -> list[tuple[tuple[int, ...], list[Any]]]:
    """Shapes and elements of the outputs. inputs: operands; an int, a bool or a float is a scalar, a list axes."""
    kinds = {int: OperandType.INT32, bool: OperandType.BOOL, float: OperandType.FLOAT32, list: INT32}
    operands = [one if isinstance(one, OracleOperand) else given(kinds[type(one)], one) for one in inputs]
    return [(result.dimensions, list(result.raw)) for result in oracles.oracle(operation)(operands, outputs)]


TABLE = given(FLOAT32, [[1.0, -2.0, 4.0], [0.5, 3.0, -1.0]])


@pytest.mark.parametrize(
    ("operation", "axes", "keep", "expected"),
    [
        ("REDUCE_SUM", [1], False, ((2,), [3.0, 2.5])),
        ("REDUCE_SUM", [0, -1, 1], False, ((1,), [5.5])),
        ("REDUCE_PROD", [-2], True, ((1, 3), [0.5, -6.0, -4.0])),
        ("REDUCE_MAX", [1], True, ((2, 1), [4.0, 3.0])),
        ("REDUCE_MIN", [0], False, ((3,), [0.5, -2.0, -1.0])),
    ],
)
def test_reductions(operation: str, axes: list[int], keep: bool, expected: Any) -> None:
    assert run(operation, [TABLE, axes, keep], OracleOperand(FLOAT32)) == [expected]


def test_truths() -> None:
    truths = given(BOOL8, [[2, 1], [0, 128], [0, 0]])
    assert run("REDUCE_ALL", [truths, [1], False], OracleOperand(BOOL8)) == [((3,), [1, 0, 0])]
    assert run("REDUCE_ANY", [truths, [1], False], OracleOperand(BOOL8)) == [((3,), [1, 1, 0])]


def test_the_first_of_equal_elements() -> None:
    ties = given(INT32, [[5, 7, 7], [1, 1, 2]])
    assert run("ARGMAX", [ties, -1], OracleOperand(INT32)) == [((2,), [1, 2])]
    assert run("ARGMIN", [ties, 1], OracleOperand(INT32)) == [((2,), [0, 0])]
    assert run("ARGMIN", [given(INT32, [3, 1, 2]), 0], OracleOperand(INT32)) == [((1,), [1])]


def test_the_largest_elements() -> None:
    source = given(QUANT8, [[5, 250, 7, 9]], 0.5, 128)
    outputs = [OracleOperand(QUANT8, (), 0.5, 128), OracleOperand(INT32)]
    assert run("TOPK_V2", [source, 3], *outputs) == [((1, 3), [250, 9, 7]), ((1, 3), [1, 3, 2])]


def test_shapes_as_values() -> None:
    assert run("RANK", [TABLE], OracleOperand(OperandType.INT32)) == [((), [2])]
    assert run("FILL", [[1, 2], 7], OracleOperand(INT32)) == [((1, 2), [7, 7])]


def test_euclidean_length() -> None:
    rows = given(FLOAT32, [[3.0, 4.0], [0.0, 0.0]])
    assert run("L2_NORMALIZATION", [rows], OracleOperand(FLOAT32))[0][1] == pytest.approx([0.6, 0.8, 0.0, 0.0])
    columns = run("L2_NORMALIZATION", [given(FLOAT32, [[3.0, 2.0], [-4.0, 0.0]]), 0], OracleOperand(FLOAT32))
    assert columns[0][1] == pytest.approx([0.6, 1.0, -0.8, 0.0])
    stored = given(QUANT8, [[103, 96, 100]], 0.25, 100)
    assert run("L2_NORMALIZATION", [stored], OracleOperand(QUANT8, (), 1 / 128, 128)) == [((1, 3), [205, 26, 128])]


def test_neighbours_on_both_sides_count_and_are_not_averaged() -> None:
    row = given(FLOAT32, [1.0, 2.0, 3.0])
    # The squares around: 1 + 4, 1 + 4 + 9, 4 + 9; bias 1, alpha 2 and beta 1 make divisors of 11, 29, 27.
    (result,) = run("LOCAL_RESPONSE_NORMALIZATION", [row, 1, 1.0, 2.0, 1.0], OracleOperand(FLOAT32))
    assert result[1] == pytest.approx([1 / 11, 2 / 29, 3 / 27])


def test_logarithms_of_shares() -> None:
    (result,) = run("LOG_SOFTMAX", [given(FLOAT32, [[0.0, 0.5]]), 2.0, 1], OracleOperand(FLOAT32))
    assert result[1] == pytest.approx([-math.log(1 + math.e), 1 - math.log(1 + math.e)])
    (far,) = run("LOG_SOFTMAX", [given(FLOAT32, [[1000.0], [-1000.0]]), 1.0, 0], OracleOperand(FLOAT32))
    assert far[1] == [0.0, -2000.0]


@pytest.mark.parametrize(("nchw", "shape"), [(False, (1, 2, 2, 1)), (True, (1, 1, 2, 2))])
def test_mean_and_variance_of_an_image(nchw: bool, shape: tuple[int, ...]) -> None:
    image = given(FLOAT32, numpy.reshape([2.0, 4.0, 4.0, 6.0], shape))
    # Mean 4, variance 2, with epsilon 0.25 the root is 1.5.
    (result,) = run("INSTANCE_NORMALIZATION", [image, 3.0, 1.0, 0.25, nchw], OracleOperand(FLOAT32))
    assert result == (shape, [-3.0, 1.0, 1.0, 5.0])
