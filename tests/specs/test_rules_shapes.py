"""Shapes of outputs: worked examples of each operation, and the unknown where something is not known yet."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.types import Operand, Operation
from npu_conformance.specs.neuralnetworks.validate import output_shapes
from npu_conformance.specs.versions import Version

Shape = tuple[int, ...]


def view(name: str, *inputs: Any, outputs: int = 1) -> OperationView:
    """A call: a tuple is a float tensor of that shape (0 unknown), an int, bool or float a scalar, a list integers."""
    operands, values = [], {}
    for position, given in enumerate(inputs):
        kind, dimensions = described(given)
        operands.append(Operand(kind, dimensions))
        if not isinstance(given, tuple):
            values[position] = numpy.array(given)
    operation = Operation(catalogue.operation(name).code, tuple(range(len(inputs))), ())
    results = [Operand(OperandType.TENSOR_FLOAT32)] * outputs
    return OperationView(operation, Version.FL8, operands, results, values=values)


def described(given: Any) -> tuple[OperandType, Shape]:
    if isinstance(given, tuple):
        return OperandType.TENSOR_FLOAT32, given
    if isinstance(given, list):
        return OperandType.TENSOR_INT32, numpy.array(given).shape
    kinds = {bool: OperandType.BOOL, int: OperandType.INT32, float: OperandType.FLOAT32}
    return kinds[type(given)], ()


def explicit(image: Shape, kernel: Shape, paddings: list[int], strides: list[int], *rest: Any) -> tuple[Any, ...]:
    return (image, kernel, kernel[:1], *paddings, *strides, 0, *rest)


SAME, VALID = 1, 2
EXAMPLES: list[tuple[str, tuple[Any, ...], Shape]] = [
    ("ADD", ((2, 1, 3), (4, 1), 0), (2, 4, 3)),
    ("ADD", ((0, 3), (1, 3), 0), (0, 3)),
    ("ADD", ((0, 3), (5, 1), 0), (5, 3)),
    ("ADD", ((), (5, 1), 0), ()),
    ("MAXIMUM", ((3,), (2, 3)), (2, 3)),
    ("SELECT", ((0, 3), (), (2, 0)), (2, 3)),
    ("SELECT", ((0, 3), (), (0, 0)), (0, 3)),
    ("SELECT", ((2, 3), (1, 3), ()), ()),
    ("SELECT", ((), (), ()), ()),
    ("RELU", ((2, 0),), (2, 0)),
    ("SOFTMAX", ((2, 3), 1.0), (2, 3)),
    ("PAD", ((2, 3), [[1, 0], [2, 3]]), (3, 8)),
    ("PAD", ((0, 3), [[1, 0], [2, 3]]), (0, 8)),
    ("PAD_V2", ((2,), [[0, 5]], 1.0), (7,)),
    ("CONV_2D", explicit((1, 5, 6, 3), (4, 2, 3, 3), [1, 0, 0, 1], [2, 1]), (1, 5, 3, 4)),
    ("CONV_2D", explicit((1, 3, 5, 6), (4, 2, 3, 3), [1, 0, 0, 1], [2, 1], True), (1, 4, 5, 3)),
    ("CONV_2D", explicit((1, 7, 7, 3), (4, 3, 3, 3), [0] * 4, [1, 1], False, 2, 3), (1, 1, 3, 4)),
    ("CONV_2D", ((0, 7, 0, 3), (4, 3, 3, 3), (4,), SAME, 2, 2, 0), (0, 4, 0, 4)),
    ("CONV_2D", ((1, 7, 8, 3), (4, 3, 3, 3), (4,), VALID, 2, 2, 0), (1, 3, 3, 4)),
    ("CONV_2D", ((1, 7, 8, 3), (4, 3, 3, 3), (4,), VALID, 1, 1, 0, False, 3, 2), (1, 3, 2, 4)),
    ("DEPTHWISE_CONV_2D", ((1, 7, 8, 3), (1, 3, 3, 6), (6,), SAME, 2, 3, 2, 0), (1, 3, 4, 6)),
    ("AVERAGE_POOL_2D", ((1, 4, 5, 3), 1, 1, 1, 1, 2, 1, 3, 2, 0), (1, 5, 3, 3)),
    ("MAX_POOL_2D", ((1, 3, 4, 5), SAME, 2, 1, 3, 2, 0, True), (1, 3, 4, 3)),
    ("L2_POOL_2D", ((1, 4, 5, 3), 1, 1, 1, 1, 2, 1, 3, 2, 0), (1, 5, 3, 3)),
    ("GROUPED_CONV_2D", ((1, 7, 8, 6), (4, 3, 3, 3), (4,), SAME, 2, 3, 2, 0, False), (1, 3, 4, 4)),
    ("GROUPED_CONV_2D", ((1, 6, 7, 8), (4, 3, 3, 3), (4,), VALID, 2, 3, 2, 0, True), (1, 4, 2, 3)),
    ("TRANSPOSE_CONV_2D", ((1, 3, 4, 2), (5, 2, 3, 2), (5,), [1, 6, 12, 5], SAME, 3, 2, 0, False), (1, 6, 12, 5)),
    ("TRANSPOSE_CONV_2D", ((1, 2, 3, 4), (5, 2, 3, 2), (5,), [1, 5, 6, 11], SAME, 3, 2, 0, True), (1, 5, 6, 11)),
    ("TRANSPOSE_CONV_2D", ((1, 4, 4, 2), (5, 2, 3, 2), (5,), [1, 6, 6, 5], SAME, 3, 2, 0, False), (1, 8, 12, 5)),
    ("TRANSPOSE_CONV_2D", ((1, 3, 4, 2), (5, 2, 3, 2), (5,), [1, 9, 9, 9], VALID, 3, 2, 0, False), (1, 6, 12, 5)),
    ("TRANSPOSE_CONV_2D", ((1, 3, 4, 2), (5, 2, 3, 2), (5,), 1, -2, 0, 3, 3, 2, 0, False), (1, 3, 13, 5)),
    ("RESIZE_BILINEAR", ((1, 4, 5, 3), 7, 6), (1, 6, 7, 3)),
    ("RESIZE_BILINEAR", ((1, 3, 4, 5), 0.9, 1.9, True), (1, 3, 7, 4)),
    ("RESIZE_NEAREST_NEIGHBOR", ((0, 4, 5, 3), 2.5, 0.25, False), (0, 1, 12, 3)),
    ("BATCH_MATMUL", ((2, 3, 4), (2, 4, 5), False, False), (2, 3, 5)),
    ("BATCH_MATMUL", ((4, 3), (5, 4), True, True), (3, 5)),
    ("BATCH_MATMUL", ((2, 3, 4), (), False, True), (2, 3, 0)),
    ("FULLY_CONNECTED", ((2, 3, 4), (5, 6), (5,), 0), (4, 5)),
    ("FULLY_CONNECTED", ((0, 6), (5, 6), (5,), 0), (0, 5)),
    ("RESHAPE", ((2, 3, 4), [4, -1]), (4, 6)),
    ("RESHAPE", ((0, 4), [4, -1]), (4, 0)),
    ("SQUEEZE", ((1, 3, 1), [0, -1]), (3,)),
    ("SQUEEZE", ((1, 1), [0, 1]), (1,)),
    ("TRANSPOSE", ((2, 3, 4), [1, 2, 0]), (3, 4, 2)),
    ("CONCATENATION", ((2, 3), (2, 4), (2, 1), 1), (2, 8)),
    ("CONCATENATION", ((0, 3), (2, 0), 1), (2, 0)),
    ("SLICE", ((4, 5), [1, 2], [-1, 2]), (3, 2)),
    ("STRIDED_SLICE", ((4, 5), [3, -1], [-9, 9], [-2, 1], 0, 0, 0), (2, 1)),
    ("STRIDED_SLICE", ((4, 5), [1, 1], [3, 3], [1, 1], 1, 2, 0), (3, 4)),
    ("STRIDED_SLICE", ((4, 5), [1, 1], [2, 3], [1, 1], 0, 0, 1), (2,)),
    ("STRIDED_SLICE", ((4,), [1], [2], [1], 0, 0, 1), (1,)),
    ("STRIDED_SLICE", ((4, 5), [3, 0], [3, 5], [1, 3], 0, 0, 0), (0, 2)),
    ("STRIDED_SLICE", ((4, 5), [1, 0], [3, 0], [-1, -1], 3, 3, 0), (4, 5)),
    ("MEAN", ((2, 3, 4), [0, -1, 2], 0), (3,)),
    ("MEAN", ((2, 3, 4), [1], 1), (2, 1, 4)),
    ("MEAN", ((2, 3), [0, 1], 0), (1,)),
    ("DEPTH_TO_SPACE", ((2, 3, 4, 18), 3), (2, 9, 12, 2)),
    ("DEPTH_TO_SPACE", ((2, 18, 0, 4), 3, True), (2, 2, 0, 12)),
    ("SPACE_TO_DEPTH", ((2, 9, 12, 2), 3), (2, 3, 4, 18)),
    ("SPACE_TO_DEPTH", ((0, 2, 9, 12), 3, True), (0, 18, 3, 4)),
    ("BATCH_TO_SPACE_ND", ((6, 3, 4, 5), [2, 3]), (1, 6, 12, 5)),
    ("BATCH_TO_SPACE_ND", ((0, 5, 3, 4), [2, 3], True), (0, 5, 6, 12)),
    ("SPACE_TO_BATCH_ND", ((2, 3, 7, 5), [2, 3], [[0, 1], [1, 1]]), (12, 2, 3, 5)),
    ("SPACE_TO_BATCH_ND", ((2, 5, 0, 7), [2, 3], [[0, 1], [1, 1]], True), (12, 5, 0, 3)),
    ("EXPAND_DIMS", ((2, 0), -1), (2, 0, 1)),
    ("EXPAND_DIMS", ((2, 3), -3), (1, 2, 3)),
    ("TILE", ((2, 0, 3), [3, 2, 1]), (6, 0, 3)),
    ("GATHER", ((2, 3, 4), -2, [[0, 1], [2, 2], [0, 0]]), (2, 3, 2, 4)),
    ("REVERSE", ((2, 0), [1]), (2, 0)),
    ("PACK", (2, (2, 0), (0, 3), (2, 3)), (2, 3, 3)),
    ("MIRROR_PAD", ((3, 0), [[1, 2], [1, 0]], 0), (6, 0)),
    ("EMBEDDING_LOOKUP", ([4, 0, 1], (5, 2, 0)), (3, 2, 0)),
    ("CHANNEL_SHUFFLE", ((2, 0), 2, 1), (2, 0)),
    ("REDUCE_SUM", ((2, 3, 4), [0, -1], False), (3,)),
    ("REDUCE_PROD", ((2, 3, 4), [1], True), (2, 1, 4)),
    ("REDUCE_MAX", ((2, 3), [-1], False), (2,)),
    ("REDUCE_MIN", ((2, 3), [-2, 0], False), (3,)),
    ("ARGMAX", ((2, 3, 4), -2), (2, 4)),
    ("ARGMIN", ((3,), 0), (1,)),
    ("RANK", ((2, 3),), ()),
    ("L2_NORMALIZATION", ((2, 3), 0), (2, 3)),
    ("LOCAL_RESPONSE_NORMALIZATION", ((2, 3), 1, 1.0, 1.0, 0.5, 0), (2, 3)),
    ("LOG_SOFTMAX", ((2, 3), 1.0, 0), (2, 3)),
    ("INSTANCE_NORMALIZATION", ((1, 2, 3, 4), 1.0, 0.0, 0.1, True), (1, 2, 3, 4)),
    ("FILL", ([2, 3], 1.0), (2, 3)),
    ("FILL", ([2, -3], 1.0), ()),
    ("ROI_ALIGN", ((2, 4, 6, 3), (5, 4), [0], 2, 1, 1.0, 1.0, 0, 0, False), (5, 2, 1, 3)),
    ("ROI_ALIGN", ((2, 4, 6, 3), (0, 4), [0], 0, 1, 1.0, 1.0, 0, 0, False), (0, 0, 1, 3)),
    ("ROI_POOLING", ((2, 3, 4, 6), (0, 4), [0], 2, 1, 1.0, 1.0, True), (0, 3, 2, 1)),
    ("AXIS_ALIGNED_BBOX_TRANSFORM", ((0, 4), (5, 12), [0], (2, 2)), (5, 12)),
]

SEVERAL: list[tuple[str, tuple[Any, ...], tuple[Shape, ...]]] = [
    ("HEATMAP_MAX_KEYPOINT", ((2, 3, 3, 5), (2, 4), False), ((2, 5), (2, 5, 2))),
    ("HEATMAP_MAX_KEYPOINT", ((0, 5, 3, 3), (2, 4), True), ((0, 5), (0, 5, 2))),
    ("BOX_WITH_NMS_LIMIT", ((9, 3), (9, 12), [0], 0.5, -1, 0, 0.5, 0.5, 0.5), ((0,), (0, 4), (0,), (0,))),
    (
        "GENERATE_PROPOSALS",
        ((1, 2, 2, 3), (1, 2, 2, 12), (3, 4), (1, 2), 1.0, 1.0, -1, -1, 0.5, 1.0, False),
        ((0,), (0, 4), (0,)),
    ),
    (
        "DETECTION_POSTPROCESSING",
        ((2, 5, 3), (2, 5, 4), (5, 4), 1.0, 1.0, 1.0, 1.0, False, 3, 2, 9, 0.5, 0.5, False),
        ((2, 6), (2, 6, 4), (2, 6), (2,)),
    ),
    (
        "DETECTION_POSTPROCESSING",
        ((0, 5, 3), (2, 5, 4), (5, 4), 1.0, 1.0, 1.0, 1.0, True, 3, 0, 9, 0.5, 0.5, False),
        ((0, 3), (0, 3, 4), (0, 3), (0,)),
    ),
    (
        "DETECTION_POSTPROCESSING",
        ((2, 5, 3), (2, 5, 4), (5, 4), 1.0, 1.0, 1.0, 1.0, False, 3, 0, 9, 0.5, 0.5, False),
        ((2, 0), (2, 0, 4), (2, 0), (2,)),
    ),
]
"""Operations with several outputs."""


@pytest.mark.parametrize(("name", "inputs", "expected"), EXAMPLES)
def test_shape_of_the_output(name: str, inputs: tuple[Any, ...], expected: Shape) -> None:
    assert output_shapes(view(name, *inputs)) == (expected,)


@pytest.mark.parametrize(("name", "inputs", "expected"), SEVERAL)
def test_shapes_of_several_outputs(name: str, inputs: tuple[Any, ...], expected: tuple[Shape, ...]) -> None:
    assert output_shapes(view(name, *inputs, outputs=len(expected))) == expected


def test_outputs_of_split() -> None:
    assert output_shapes(view("SPLIT", (4, 6), -1, 3, outputs=3)) == ((4, 2),) * 3
    assert output_shapes(view("SPLIT", (4, 0), -1, 3, outputs=3)) == ((4, 0),) * 3


def test_outputs_of_a_hash_table() -> None:
    assert output_shapes(view("HASHTABLE_LOOKUP", [4, 0], [0, 2, 4], (3, 5), outputs=2)) == ((2, 5), (2,))


def test_outputs_of_topk() -> None:
    assert output_shapes(view("TOPK_V2", (4, 6), 2, outputs=2)) == ((4, 2),) * 2
    assert output_shapes(view("TOPK_V2", (4, 6), 7, outputs=2)) == ((),) * 2


def test_values_that_do_not_fit_give_no_shape() -> None:
    assert output_shapes(view("ADD", (2,), (3,), 0)) == ((),)
    assert output_shapes(view("RESHAPE", (5,), [2, -1])) == ((),)
    assert output_shapes(view("CONV_2D", (1, 2, 2, 1), (1, 9, 9, 1), (1,), VALID, 1, 1, 0)) == ((),)


SAME_FAMILY = {
    *("SUB", "MUL", "DIV", "MINIMUM", "RELU1", "RELU6", "LOGISTIC", "TANH", "CAST", "QUANTIZE", "DEQUANTIZE"),
    *("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"),
    *("LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT"),
    *("ABS", "NEG", "EXP", "LOG", "SIN", "SQRT", "RSQRT", "FLOOR"),
    *("PRELU", "POW", "ELU", "HARD_SWISH"),
}
"""Operations whose shape rule is one of those shown above."""


@pytest.mark.parametrize("name", sorted(SAME_FAMILY))
def test_shapes_of_families(name: str) -> None:
    count = len(catalogue.operation(name).signatures[0].inputs)
    inputs = [(2, 3), (1, 3), 0][:count]
    assert output_shapes(view(name, *inputs)) == ((2, 3),)
