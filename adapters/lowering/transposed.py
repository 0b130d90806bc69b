"""TRANSPOSE_CONV_2D.

LiteRT gets the shape of the output. Without padding it may be any shape: elements beyond the sums have the bias alone.
So explicit paddings are a larger output, cut by SLICE.
"""

from __future__ import annotations

from dataclasses import replace

from npu_conformance.adapters.litert_runtime import schema
from npu_conformance.adapters.lowering import window as windows
from npu_conformance.adapters.lowering.context import Step
from npu_conformance.adapters.lowering.convolution import (
    FILTER,
    as_declared,
    bias_of,
    computing_dtype,
    result_as,
    shifted,
)
from npu_conformance.adapters.lowering.operands import LoweringError, check_size
from npu_conformance.specs.neuralnetworks.enums import OperandType, PaddingScheme

SHAPE = 3


def transpose_conv_2d(step: Step) -> None:
    """TRANSPOSE_CONV_2D."""
    is_implicit = step.is_type(SHAPE, OperandType.TENSOR_INT32)
    window = windows.read(step, first=4 if is_implicit else 3, middle_count=0)
    if is_implicit and window.scheme == PaddingScheme.SAME:
        result = _emit(step, window, _wanted(step, window), schema().Padding.SAME, windows.source(step, window))
    else:
        result = _cut(step, window)
    windows.deliver(step, window, as_declared(step, result))


def _wanted(step: Step, window: windows.Window) -> list[int]:
    """Return the height and width that SAME has to give."""
    shape = step.value(SHAPE).tolist()
    wanted: list[int] = shape[2:] if window.is_nchw else shape[1:3]
    given = windows.input_size(step, window)
    if any(-(-size // stride) != count for size, stride, count in zip(wanted, window.strides, given, strict=True)):
        raise LoweringError(f"an output of {wanted} from {given} by strides of {window.strides}")
    return wanted


def _cut(step: Step, window: windows.Window) -> int:
    """The result without padding, cut at head and tail. For a tail that is added, the input gets zeros at its end."""
    paddings, filters = window.paddings or ((0, 0), (0, 0)), step.dimensions(FILTER)[1:3]
    added = [max(-(tail // stride), 0) for (_, tail), stride in zip(paddings, window.strides, strict=True)]
    wider = replace(window, paddings=((0, added[0]), (0, added[1])))
    source = windows.padded(step, wider, windows.source(step, window))
    whole, kept = [], []
    for axis, size in enumerate(windows.input_size(step, window)):
        whole.append((size + added[axis] - 1) * window.strides[axis] + filters[axis])
        kept.append((size - 1) * window.strides[axis] + filters[axis] - sum(paddings[axis]))
    result = _emit(step, window, whole, schema().Padding.VALID, source)
    part = step.like(result)
    begin, length = step.integers([0, *(head for head, _ in paddings), 0]), step.integers([-1, *kept, -1])
    step.graph.emit("SLICE", [result, begin, length], part, "Slice")
    return part


def _emit(step: Step, window: windows.Window, size: list[int], padding: int, number: int) -> int:
    shape = [step.dimensions(0)[0], *size, step.dimensions(FILTER)[0]]
    check_size(shape)
    dtype = computing_dtype(step)
    source = shifted(step, number, dtype)
    weights, result = shifted(step, step.tensor(FILTER), dtype), result_as(step, dtype)
    step.graph.emit(
        "TRANSPOSE_CONV",
        [step.integers(shape), weights, source, bias_of(step)],
        result,
        "TransposeConv",
        padding=padding,
        strideH=window.strides[0],
        strideW=window.strides[1],
        fusedActivationFunction=window.activation,
    )
    return result
