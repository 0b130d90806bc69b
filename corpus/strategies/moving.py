"""Recipes of operations that move elements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy

from npu_conformance.corpus.generators.operands import (
    OperandSpec,
    boolean,
    constant,
    int32,
    int32s,
    omitted,
    scalar,
    tensor,
)
from npu_conformance.corpus.strategies.calls import Arguments, Call, Recipe
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from collections.abc import Sequence

_REFLECT = 0


def _reshape(call: Call) -> Arguments:
    shape = call.shape("input")
    wanted = [call.decisions.pick(shape), math.prod(shape)]
    first = wanted[0] if call.flag() else 1
    rest = math.prod(shape) // first
    return {"input": call.tensor("input", shape), "shape": int32s(first, -1 if call.flag() else rest)}


def _squeeze(call: Call) -> Arguments:
    shape = tuple(1 if call.flag() else size for size in call.shape("input"))
    ones = [axis for axis, size in enumerate(shape) if size == 1 and call.flag()]
    if ones and len(ones) < len(shape):
        return {"input": call.tensor("input", shape), "squeeze_dims": int32s(*ones)}
    # Without a list everything of size 1 goes, and something has to be left.
    nothing = omitted(OperandType.TENSOR_INT32, (1,))
    return {"input": call.tensor("input", (*shape[1:], 2)), "squeeze_dims": nothing}


def _expand(call: Call) -> Arguments:
    shape = call.shape("input")
    return {"input": call.tensor("input", shape), "axis": int32(call.axis(len(shape) + 1))}


def _transpose(call: Call) -> Arguments:
    shape = call.shape("input")
    order = call.order(len(shape))
    return {"input": call.tensor("input", shape), "perm": int32s(*order)}


def _slice(call: Call) -> Arguments:
    shape = call.shape("input")
    touched = call.touched(len(shape))
    begin = [call.decisions.below(size) if cut else 0 for size, cut in zip(shape, touched, strict=True)]
    left = [size - start for size, start in zip(shape, begin, strict=True)]
    sizes = [call.between(1, size) if cut else size for size, cut in zip(left, touched, strict=True)]
    sizes = [-1 if call.flag() else size for size in sizes]
    return {"input": call.tensor("input", shape), "begin": int32s(*begin), "size": int32s(*sizes)}


def _strided(call: Call) -> Arguments:
    shape = call.shape("input")
    touched = call.touched(len(shape))
    begin = [call.decisions.below(size) if cut else 0 for size, cut in zip(shape, touched, strict=True)]
    spans = zip(shape, begin, touched, strict=True)
    end = [call.between(start + 1, size) if cut else size for size, start, cut in spans]
    shrunk = call.decisions.below(2 ** (len(shape) - 1))  # Never the last one: something has to be left.
    masks = {name: call.decisions.below(2 ** len(shape)) & ~shrunk for name in ("begin_mask", "end_mask")}
    end = [start + 1 if shrunk >> axis & 1 else stop for axis, (start, stop) in enumerate(zip(begin, end, strict=True))]
    strides = [call.between(1, 3) if cut else 1 for cut in touched]
    for axis in _reversed_axes(call, touched, shrunk):
        # The same elements from the last one on; an end before the first one counts from behind.
        begin[axis], end[axis] = end[axis] - 1, begin[axis] - 1 if begin[axis] else -shape[axis] - 1
        strides[axis] = -strides[axis]
    return {
        "input": call.tensor("input", shape),
        "begin": int32s(*begin),
        "end": int32s(*end),
        "strides": int32s(*strides),
        **{name: int32(value) for name, value in masks.items()},
        "shrink_axis_mask": int32(shrunk),
    }


def _reversed_axes(call: Call, touched: Sequence[bool], shrunk: int) -> list[int]:
    """The axes that are read backwards: none, or all that are cut and stay."""
    is_backwards = call.flag()
    return [axis for axis, cut in enumerate(touched) if is_backwards and cut and not shrunk >> axis & 1]


def _paddings(call: Call, shape: Sequence[int], largest: Sequence[int] | None = None) -> OperandSpec:
    limits = largest or [2] * len(shape)
    touched = zip(limits, call.touched(len(shape)), strict=True)
    values = [[call.between(0, limit), call.between(0, limit)] if padded else [0, 0] for limit, padded in touched]
    return constant(OperandType.TENSOR_INT32, (len(shape), 2), values)


def _padded(call: Call) -> Arguments:
    shape = call.shape("input")
    return {"input": _to_be_padded(call, shape), "paddings": _paddings(call, shape)}


def _to_be_padded(call: Call, shape: Sequence[int]) -> OperandSpec:
    """An input; before 1.2 its zero point is 0."""
    old = (call.scale(), 0) if call.version < Version.V1_2 else None
    return call.tensor("input", shape, quantization=old)


def _padded_with(call: Call) -> Arguments:
    arguments = _padded(call)
    kind = call.kind("pad_value")
    value = call.between(0, 100) if kind is OperandType.INT32 else call.between(0, 16) / 8
    return {**arguments, "pad_value": scalar(kind, value)}


def _mirrored(call: Call) -> Arguments:
    shape, mode = call.shape("input"), call.decisions.below(2)
    limits = [min(size - (mode == _REFLECT), 3) for size in shape]
    return {"input": call.tensor("input", shape), "paddings": _paddings(call, shape, limits), "mode": int32(mode)}


def _gather(call: Call) -> Arguments:
    shape = call.shape("input")
    axis = call.axis(len(shape))
    wanted = tuple(call.size() for _ in range(call.between(1, 2)))
    indices = call.random.integers(0, shape[axis], wanted)
    return {
        "input": call.tensor("input", shape),
        "axis": int32(axis),
        "indices": call.tensor("indices", wanted, indices, constant=call.flag()),
    }


def _reverse(call: Call) -> Arguments:
    shape = call.shape("input")
    return {"input": call.tensor("input", shape), "axis": int32s(call.axis(len(shape), negative=False))}


def _tile(call: Call) -> Arguments:
    shape = call.shape("input")
    touched = call.touched(len(shape))
    return {
        "input": call.tensor("input", shape),
        "multiples": int32s(*(call.several() if copied else 1 for copied in touched)),
    }


def _split(call: Call) -> Arguments:
    shape = list(call.shape("input"))
    axis, parts = call.axis(len(shape)), call.parts()
    shape[axis] *= parts
    call.result_count = parts
    return {"input": call.tensor("input", shape), "axis": int32(axis), "num_splits": int32(parts)}


def _concatenation(call: Call) -> Arguments:
    shape = call.shape("inputs")
    axis = call.decisions.below(len(shape))
    call.quantized_result("output")
    quantization = call.results["output"] if call.version < Version.V1_2 else None
    sizes = [call.size() for _ in range(call.parts())]
    shapes = [(*shape[:axis], size, *shape[axis + 1 :]) for size in sizes]
    return {"inputs": [call.tensor("inputs", one, quantization=quantization) for one in shapes], "axis": int32(axis)}


def _pack(call: Call) -> Arguments:
    shape = call.shape("inputs")
    call.quantized_result("output")
    inputs = [call.tensor("inputs", shape, quantization=call.results["output"]) for _ in range(call.parts())]
    return {"axis": int32(call.decisions.below(len(shape) + 1)), "inputs": inputs}


def _depth_to_space(call: Call) -> Arguments:
    nchw, block = call.layout(), call.several()
    shape = call.image(nchw, call.size(), call.size(), call.several() * block * block)
    return {"input": call.tensor("input", shape), "block_size": int32(block), "nchw_layout": boolean(nchw)}


def _space_to_depth(call: Call) -> Arguments:
    nchw, block = call.layout(), call.several()
    shape = call.image(nchw, call.several() * block, call.several() * block, call.size())
    return {"input": call.tensor("input", shape), "block_size": int32(block), "nchw_layout": boolean(nchw)}


def _batch_to_space(call: Call) -> Arguments:
    nchw, blocks = call.layout(), (call.between(1, 2), call.between(1, 3))
    batch = call.between(1, 2) * blocks[0] * blocks[1]
    shape = call.image(nchw, call.size(), call.size(), call.size(), batch)
    return {"input": call.tensor("input", shape), "block_shape": int32s(*blocks), "nchw_layout": boolean(nchw)}


def _space_to_batch(call: Call) -> Arguments:
    nchw, blocks = call.layout(), (call.between(1, 2), call.between(1, 3))
    sizes, paddings = [], []
    for block in blocks:
        whole, head, tail = call.between(1, 3) * block, call.decisions.below(2), call.decisions.below(2)
        if whole <= head + tail:
            whole += 2 * block
        sizes.append(whole - head - tail)
        paddings.append([head, tail])
    return {
        "input": _to_be_padded(call, call.image(nchw, sizes[0], sizes[1], call.size())),
        "block_shape": int32s(*blocks),
        "paddings": constant(OperandType.TENSOR_INT32, (2, 2), numpy.array(paddings)),
        "nchw_layout": boolean(nchw),
    }


def _shuffle(call: Call) -> Arguments:
    shape, groups = list(call.shape("input")), call.several()
    axis = call.axis(len(shape))
    shape[axis] *= groups
    return {"input": call.tensor("input", shape), "num_groups": int32(groups), "axis": int32(axis)}


def _fill(call: Call) -> Arguments:
    kind = call.kind("value")
    value = call.between(0, 64)
    return {
        "dims": int32s(*(call.size() for _ in range(call.between(1, 4)))),
        "value": tensor(kind, (), [value if kind is OperandType.INT32 else value / 8]),
    }


def _embedding(call: Call) -> Arguments:
    shape = tuple(call.size() for _ in range(call.between(2, 4)))
    lookups = (call.size(),)
    indices = call.random.integers(0, shape[0], lookups)
    return {"lookups": call.tensor("lookups", lookups, indices), "values": call.tensor("values", shape)}


def _hashtable(call: Call) -> Arguments:
    shape, lookups = tuple(call.size() for _ in range(call.between(2, 4))), (call.size(),)
    keys = numpy.cumsum(call.random.integers(1, 3, shape[0]))
    wanted = call.random.integers(0, 2 * shape[0] + 1, lookups)
    call.results["hits"] = (1.0, 0)
    return {
        "lookups": call.tensor("lookups", lookups, wanted),
        "keys": call.tensor("keys", (shape[0],), keys),
        "values": call.tensor("values", shape),
    }


RECIPES: dict[str, Recipe] = {
    "RESHAPE": _reshape,
    "SQUEEZE": _squeeze,
    "EXPAND_DIMS": _expand,
    "TRANSPOSE": _transpose,
    "SLICE": _slice,
    "STRIDED_SLICE": _strided,
    "PAD": _padded,
    "PAD_V2": _padded_with,
    "MIRROR_PAD": _mirrored,
    "GATHER": _gather,
    "REVERSE": _reverse,
    "TILE": _tile,
    "SPLIT": _split,
    "CONCATENATION": _concatenation,
    "PACK": _pack,
    "DEPTH_TO_SPACE": _depth_to_space,
    "SPACE_TO_DEPTH": _space_to_depth,
    "BATCH_TO_SPACE_ND": _batch_to_space,
    "SPACE_TO_BATCH_ND": _space_to_batch,
    "CHANNEL_SHUFFLE": _shuffle,
    "FILL": _fill,
    "EMBEDDING_LOOKUP": _embedding,
    "HASHTABLE_LOOKUP": _hashtable,
}
