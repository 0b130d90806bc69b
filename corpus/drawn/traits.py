"""What a driver's guards see of a model: the traits of which the models of a seed are to meet pairs and triples.

A size has several at once, since one guard asks for eight channels and more, another for whole vectors, a third for
what is left over by them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy

from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Vector, VectorOperand
    from npu_conformance.corpus.vectors import Array

_MOST_NUMBERS = 8
"""A tensor of integers that is longer says nothing but its length."""
_WHOLE = ("perm", "axis", "strides", "block_shape", "shape", "multiples")
"""Lists that guards compare as a whole."""
_IMAGE = ("batch", "height", "width", "channels")
_SEVERAL = 8
"""From so many on a size that is not that of channels counts as large."""
_FIRST = (
    ("window", "stride ["),
    ("first is", "second is"),
    ("axis last", "axis inner", "axis first"),
    ("height becomes",),
)
_POPULAR = (
    "window [3, 3] stride [1, 1]",
    "window [3, 3] stride [2, 2]",
    "window [1, 1] stride [1, 1]",
    "window [2, 2] stride [2, 2]",
)
_RATIOS = (0.5, 1.0, 2.0, 3.0, 4.0)
_EXACT = 4
"""Numbers up to this one are told apart, larger ones by their kind."""


def traits(vector: Vector) -> list[str]:
    """The traits of a model of one operation, each once, in an order that follows from the model."""
    (operation,) = vector.operations
    inputs = [vector.operands[name] for name in operation.inputs]
    reading = catalogue.reading(operation.type, tuple(one.type for one in inputs))
    listed = [argument.name for argument in reading.arguments]
    names = [*listed, *(f"more {number}" for number in range(len(listed), len(inputs)))]
    given = dict(zip(names, inputs, strict=False))
    result = vector.operands[operation.outputs[-1 if operation.type == "LSTM" else 0]]
    layout = _layout(given) if "nchw_layout" in reading.positions else ()
    found = [
        f"variant {reading.signature.variant if reading.signature else ''}",
        f"inputs {len(inputs)}",
        f"outputs {min(len(operation.outputs), _EXACT)}",
    ]
    for name, operand in given.items():
        found += _of_operand(name, operand, inputs[0], layout)
    found += (f"result {one}" for one in _sizes("", result, layout))
    found += (*_of_quantization(inputs, result), *_of_shapes(inputs, result), *_of_growth(inputs[0], result, layout))
    found += (*_of_windows(given), *_kinds("elements", math.prod(result.dimensions)))
    return list(dict.fromkeys(found))


def _layout(given: Mapping[str, VectorOperand]) -> Sequence[str]:
    """What the axes of images are."""
    return _IMAGE if _number(given.get("nchw_layout")) != 1 else ("batch", "channels", "height", "width")


def type_of(vector: Vector) -> str:
    """The types by which a driver has kernels: of all tensors but lists."""
    (operation,) = vector.operations
    kinds = [vector.operands[name].type for name in operation.inputs]
    return " ".join(dict.fromkeys(one.name for one in kinds if OPERAND_TYPES[one].is_tensor))


def kernel_of(found: Sequence[str]) -> str:
    """By which traits a driver chooses a kernel first: window and steps, broadcast, axis, how it resizes, or rank."""
    for wanted in _FIRST:
        if its := " ".join(one for one in found if one.startswith(wanted)):
            return "other" if its.startswith("window") and its not in _POPULAR else its
    return next((one for one in found if " rank " in one), "")


def _number(operand: VectorOperand | None) -> int | None:
    """The value of a scalar of whole numbers."""
    if operand is None or operand.value is None or OPERAND_TYPES[operand.type].is_tensor:
        return None
    return int(operand.value) if operand.value.dtype.kind in "iub" else None


def _is_list(operand: VectorOperand, first: VectorOperand) -> bool:
    """True for whole numbers beside data of another type, such as axes."""
    return operand.type is OperandType.TENSOR_INT32 and first.type is not OperandType.TENSOR_INT32


def _of_operand(name: str, operand: VectorOperand, first: VectorOperand, layout: Sequence[str]) -> Iterator[str]:
    if operand.omitted:
        yield f"{name} omitted"
        return
    info, value = OPERAND_TYPES[operand.type], operand.value
    if not info.is_tensor:
        yield from _of_scalar(name, value, len(first.dimensions)) if value is not None else ()
    elif value is not None and _is_list(operand, first) and value.size <= _MOST_NUMBERS:
        yield from _of_axes(value, len(first.dimensions)) if name == "axes" else _of_list(name, value)
    else:
        yield f"{name} {operand.type.name}"
        yield f"{name} constant {value is not None}"
        if name != "bias":
            yield from _sizes(name, operand, layout)
            yield from _of_zero_point(name, operand)


def _of_scalar(name: str, value: Array, rank: int) -> Iterator[str]:
    if value.dtype.kind == "f":
        number = float(value)
        yield f"{name} {'0' if number == 0 else '1' if number == 1 else 'above 1' if number > 1 else 'below 1'}"
        return
    whole = int(value)
    if name == "axis" and rank:
        yield from _of_axis(name, whole, rank)
    elif name.endswith("_mask"):
        yield from (f"{name} {axis - rank} {whole >> axis & 1}" for axis in range(rank))
    elif whole <= _EXACT:
        yield f"{name} {whole}"
    if whole > 1:
        yield from _kinds(name, whole)


def _of_axis(name: str, axis: int, rank: int) -> Iterator[str]:
    yield f"{name} {'negative' if axis < 0 else 'counted'}"
    axis %= rank
    yield f"{name} {'last' if axis == rank - 1 else 'inner' if axis else 'first'}"


def _of_axes(value: Array, rank: int) -> Iterator[str]:
    """Which axes an operation takes together, from whichever end they are counted."""
    numbers = value.reshape(-1).tolist()
    axes = sorted({axis % rank for axis in numbers})
    yield f"axes {axes} of {rank}"
    yield f"axes {'with' if rank - 1 in axes else 'without'} the last one"
    yield f"axes {'all' if len(axes) == rank else len(axes)}"
    yield f"axes negative {any(axis < 0 for axis in numbers)}"


def _of_list(name: str, value: Array) -> Iterator[str]:
    numbers = value.reshape(-1).tolist()
    if name in _WHOLE:
        yield f"{name} {numbers}"
    if name == "paddings":
        for axis, (before, behind) in enumerate(value.tolist()):
            yield f"{name} {axis - len(value)} {before > 0}{behind > 0}"
        yield f"{name} of axes {[axis - len(value) for axis, row in enumerate(value.tolist()) if any(row)]}"
        return
    yield f"{name} of {len(numbers)}"
    for place, number in enumerate(numbers):
        yield f"{name} {place - len(numbers)} {_sign(number)}"


def _sign(number: int) -> str:
    return str(number) if -1 <= number <= 1 else "above" if number > 1 else "below"


def _sizes(name: str, operand: VectorOperand, layout: Sequence[str]) -> Iterator[str]:
    rank = len(operand.dimensions)
    yield f"{name} rank {rank}"
    places = ["last" if axis == rank - 1 else "first" if not axis else f"axis {axis - rank}" for axis in range(rank)]
    if rank == len(layout) and name in {"", "input"}:
        places = list(layout)
    for place, size in zip(places, operand.dimensions, strict=True):
        if place in {"last", "channels"} or (name == "filter" and place == "first"):
            yield from _kinds(f"{name} {place}", size)
        elif name != "filter":
            yield f"{name} {place} {'one' if size == 1 else 'several' if size < _SEVERAL else 'many'}"


def _kinds(name: str, size: int) -> Iterator[str]:
    """The kinds of a size, of which it has several."""
    kinds = {
        "one": size == 1, "several": size > 1, "fours": size % 4 == 0, "eights": size % 8 == 0,
        "left over by four": size > 4 and size % 4 > 0, "left over by eight": size > 8 and size % 8 > 0,
        "sixteen": size >= 16, "large": size >= 32, "very large": size >= 64, "odd": size > 1 and size % 2 == 1,
    }  # fmt: skip
    return (f"{name} {kind}" for kind, is_so in kinds.items() if is_so)


def _of_zero_point(name: str, operand: VectorOperand) -> Iterator[str]:
    info = OPERAND_TYPES[operand.type]
    if info.zero_points is None or len(set(info.zero_points)) == 1:
        return
    low, high = info.zero_points
    places: Mapping[int, str] = {low: "low", high: "high", (low + high + 1) // 2: "middle"}
    yield f"{name} zero point {places.get(operand.zero_point, 'other')}"
    yield f"{name} code 0 {operand.zero_point == 0}"


def _of_quantization(inputs: Sequence[VectorOperand], result: VectorOperand) -> Iterator[str]:
    """What operands have in common."""
    quantized = [one for one in inputs if OPERAND_TYPES[one.type].zero_points and OPERAND_TYPES[one.type].is_tensor]
    for number, (one, other) in enumerate(itertools.pairwise(quantized)):
        if number < _EXACT and one.type is other.type:
            yield f"scales {number} equal {one.scale == other.scale}"
            yield f"zero points {number} equal {one.zero_point == other.zero_point}"
    if quantized and result.scale:
        yield f"result keeps scale {quantized[0].scale == result.scale}"
        yield f"result keeps zero point {quantized[0].zero_point == result.zero_point}"
        yield from _of_zero_point("result", result)
    yield f"result {result.type.name}"


def _of_shapes(inputs: Sequence[VectorOperand], result: VectorOperand) -> Iterator[str]:
    """How two operands are broadcast, of operations that may."""
    tensors = [one.dimensions for one in inputs[:2] if one.type is inputs[0].type]
    if len(tensors) < 2:
        return
    try:
        if numpy.broadcast_shapes(*tensors) != tuple(result.dimensions):
            return
    except ValueError:
        return
    for name, shape in zip(("first", "second"), tensors, strict=True):
        yield f"{name} is {_part(shape, result.dimensions)}"
        yield f"{name} of lower rank {len(shape) < len(result.dimensions)}"


def _part(shape: Sequence[int], whole: Sequence[int]) -> str:
    """Which part of a result an operand is."""
    count = math.prod(shape)
    if tuple(shape) == tuple(whole):
        return "whole"
    if count == 1:
        return "an element"
    if count == shape[-1] == whole[-1]:
        return "a row"
    return "columns" if shape[-1] == 1 < whole[-1] else "a part"


def _of_growth(first: VectorOperand, result: VectorOperand, layout: Sequence[str]) -> Iterator[str]:
    """What becomes of the sides of an image."""
    if not len(first.dimensions) == len(result.dimensions) == len(layout):
        return
    for name in ("height", "width"):
        before, behind = (one.dimensions[layout.index(name)] for one in (first, result))
        ratio = behind / before
        yield f"{name} becomes {ratio if ratio in _RATIOS else 'larger' if ratio > 1 else 'smaller'}"


def _of_windows(given: Mapping[str, VectorOperand]) -> Iterator[str]:
    """Windows, steps and paddings, as pairs."""
    numbers = {name: number for name, one in given.items() if (number := _number(one)) is not None}
    filters = given.get("filter")
    sides = (numbers.get("filter_height", 0), numbers.get("filter_width", 0))
    window = tuple(filters.dimensions[1:3]) if filters is not None else sides
    if not all(window):
        return
    yield f"window {list(window)}"
    for name in ("stride", "dilation"):
        yield f"{name} {[numbers.get(f'{name}_{side}', 1) for side in ('height', 'width')]}"
    pads = [numbers.get(f"pad_{side}", 0) for side in ("left", "right", "top", "bottom")]
    yield f"padded {any(pads) or (numbers.get('padding_scheme') == 1 and window != (1, 1))}"
    yield f"paddings {'unequal' if pads[0] != pads[1] or pads[2] != pads[3] else 'equal'}"
    image = given["input"].dimensions
    yield f"global {sorted(window) == sorted(image[1:3]) or sorted(window) == sorted(image[2:4])}"
