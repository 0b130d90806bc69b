"""Strides, filters and paddings of 8 to 17, as nets have them that cut images into patches or enlarge images."""

from collections.abc import Callable, Mapping

import numpy

from npu_conformance.corpus.generators._other_types import in_other_types
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.operands import Operands, boolean, constant, int32, scalar, tensor
from npu_conformance.corpus.generators.types import FLOAT32, INT32
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType

_HALVES = GeneratorDocument(kind="dyadic", seed=80, low=-4.0, high=4.0, step=0.5)
_RISING = 0.5 * (1 + numpy.arange(20 * 22) // 8)
"""From row to row and along each: windows differ by more than a stored integer."""
_WEIGHTS = GeneratorDocument(kind="dyadic", seed=82, low=-1.0, high=1.0, step=0.5)


def large_steps(operation: str) -> Vectors:
    """A vector of an operation in each of its types; half floats and signed codes are variations."""
    inputs, outputs = _ARGUMENTS[operation](operation)
    about = "strides, filters and paddings of more than three bits"
    yield positive("float32_large_steps", operation, inputs, outputs, description=about)
    yield from in_other_types("large_steps", operation, inputs, outputs, about)


def _numbers(**values: int) -> Operands:
    return {name: int32(value) for name, value in values.items()}


def _convolution(operation: str) -> tuple[Operands, Operands]:
    """20 + 9 + 10 rows under 16, every 16 of them; 26 + 8 + 9 columns under 17, every 13."""
    weights: Operands = {
        "filter": constant(FLOAT32, (1, 16, 17, 1), _WEIGHTS),
        "bias": constant(FLOAT32, (1,), [0.25]),
    }
    more: Mapping[str, Operands] = {
        "DEPTHWISE_CONV_2D": _numbers(depth_multiplier=1),
        "GROUPED_CONV_2D": _numbers(groups=1),
    }
    layout: Operands = {"nchw_layout": boolean(False)} if operation == "GROUPED_CONV_2D" else {}
    steps = _numbers(pad_left=8, pad_right=9, pad_top=9, pad_bottom=10, stride_width=13, stride_height=16)
    plain = {**more.get(operation, {}), **_numbers(activation=0), **layout}
    inputs = {"input": tensor(FLOAT32, (1, 20, 26, 1), _HALVES), **weights, **steps, **plain}
    return inputs, {"output": tensor(FLOAT32, (1, 2, 3, 1))}


def _transposed(operation: str) -> tuple[Operands, Operands]:
    """Three rows become 2 * 8 + 10 less 3 and 4, two columns 9 + 12 less 5 and 2."""
    weights: Operands = {
        "filter": constant(FLOAT32, (1, 10, 12, 1), _WEIGHTS),
        "bias": constant(FLOAT32, (1,), [0.25]),
    }
    steps = _numbers(pad_left=5, pad_right=2, pad_top=3, pad_bottom=4, stride_width=9, stride_height=8, activation=0)
    inputs = {"input": tensor(FLOAT32, (1, 3, 2, 1), _HALVES), **weights, **steps, "nchw_layout": boolean(False)}
    return inputs, {"output": tensor(FLOAT32, (1, 19, 14, 1))}


def _pool(operation: str) -> tuple[Operands, Operands]:
    """20 + 4 + 9 rows under 10, every 11 of them; 22 + 8 + 5 columns under 9, every 8."""
    steps = _numbers(pad_left=8, pad_right=5, pad_top=4, pad_bottom=9, stride_width=8, stride_height=11)
    window = _numbers(filter_width=9, filter_height=10, activation=0)
    inputs = {"input": tensor(FLOAT32, (1, 20, 22, 1), _RISING), **steps, **window}
    return inputs, {"output": tensor(FLOAT32, (1, 3, 4, 1))}


def _padding(operation: str) -> tuple[Operands, Operands]:
    """Rows and columns get 8 to 12 more on each side."""
    paddings = constant(INT32, (2, 2), [9, 8, 12, 10])
    more: Mapping[str, Operands] = {
        "PAD_V2": {"pad_value": scalar(OperandType.FLOAT32, -6.5)},
        "MIRROR_PAD": _numbers(mode=1),
    }
    inputs = {"input": tensor(FLOAT32, (10, 13), _HALVES), "paddings": paddings, **more.get(operation, {})}
    return inputs, {"output": tensor(FLOAT32, (27, 35))}


_ARGUMENTS: Mapping[str, Callable[[str], tuple[Operands, Operands]]] = {
    "AVERAGE_POOL_2D": _pool,
    "CONV_2D": _convolution,
    "DEPTHWISE_CONV_2D": _convolution,
    "GROUPED_CONV_2D": _convolution,
    "L2_POOL_2D": _pool,
    "MAX_POOL_2D": _pool,
    "MIRROR_PAD": _padding,
    "PAD": _padding,
    "PAD_V2": _padding,
    "TRANSPOSE_CONV_2D": _transposed,
}
