"""Operations that only move stored elements: shapes, slices, joins, paddings, blocks and lookups."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from npu_conformance.adapters.lowering.operands import LoweringError, check_size, storage_dtype
from npu_conformance.adapters.lowering.shape import wrapped_axes
from npu_conformance.adapters.onnx_lowering.context import FARTHEST, Step


def reshape(step: Step) -> None:
    """RESHAPE."""
    step.bind(step.reshaped(step.stored(0), step.value(1).tolist()))


def squeeze(step: Step) -> None:
    """SQUEEZE; where every axis goes NNAPI keeps [1], ONNX nothing."""
    dimensions = step.dimensions(0)
    ones = [axis for axis, size in enumerate(dimensions) if size == 1]
    axes = ones if step.is_omitted(1) else sorted(set(wrapped_axes(step.value(1).tolist(), len(dimensions))))
    if len(axes) == len(dimensions):
        step.bind(step.reshaped(step.stored(0), [1]))
    else:
        step.bind(step.emit("Squeeze", step.stored(0), step.integers(axes)))


def transpose(step: Step) -> None:
    """TRANSPOSE; without a permutation the axes are reversed."""
    reversed_axes = list(reversed(range(len(step.dimensions(0)))))
    step.bind(step.transposed(step.stored(0), reversed_axes if step.is_omitted(1) else step.value(1).tolist()))


def rank(step: Step) -> None:
    """RANK: the size of the shape."""
    step.bind(step.cast(step.emit("Size", step.emit("Shape", step.stored(0))), np.int32))


def fill(step: Step) -> None:
    """FILL."""
    dimensions = step.value(0).tolist()
    check_size(dimensions)
    step.bind(step.emit("Expand", step.reshaped(step.stored(1), [1]), step.integers(dimensions)))


def expand_dims(step: Step) -> None:
    """EXPAND_DIMS."""
    step.bind(step.emit("Unsqueeze", step.stored(0), step.integers([step.scalar(1)])))


def tile(step: Step) -> None:
    """TILE."""
    multiples = step.value(1).tolist()
    check_size([size * times for size, times in zip(step.dimensions(0), multiples, strict=True)])
    step.bind(step.emit("Tile", step.stored(0), step.integers(multiples)))


def gather(step: Step) -> None:
    """GATHER."""
    step.bind(step.emit("Gather", step.stored(0), _indexes(step, 2), axis=step.scalar(1)))


def reverse(step: Step) -> None:
    """REVERSE: a slice from the end backwards."""
    axes = step.value(1).tolist()
    step.bind(_sliced(step, step.stored(0), axes, [-1] * len(axes), [-FARTHEST] * len(axes), [-1] * len(axes)))


def pack(step: Step) -> None:
    """PACK; NNAPI names the axis first."""
    axis = step.integers([step.scalar(0)])
    parts = [step.emit("Unsqueeze", step.stored(position), axis) for position in range(1, step.input_count)]
    step.bind(step.emit("Concat", *parts, axis=step.scalar(0)))


def concatenation(step: Step) -> None:
    """CONCATENATION; inputs quantised otherwise than the output are requantised through their real values."""
    last, target = step.input_count - 1, step.result()
    given = [(step.operand(position).scale, step.operand(position).zero_point) for position in range(last)]
    axis = step.scalar(last)
    if set(given) <= {(target.scale, target.zero_point)}:
        step.bind(step.emit("Concat", *(step.stored(position) for position in range(last)), axis=axis))
    else:
        step.store(step.emit("Concat", *(step.real(position) for position in range(last)), axis=axis))


def split(step: Step) -> None:
    """SPLIT into equal parts."""
    axis, count = step.scalar(1), step.scalar(2)
    sizes = step.integers([step.dimensions(0)[axis] // count] * count)
    for position, name in enumerate(step.graph.emit("Split", [step.stored(0), sizes], count, axis=axis)):
        step.bind(name, position)


def slice_(step: Step) -> None:
    """SLICE; a size of -1 reaches to the end."""
    begins, sizes = step.value(1).tolist(), step.value(2).tolist()
    ends = [FARTHEST if size == -1 else begin + size for begin, size in zip(begins, sizes, strict=True)]
    step.bind(_sliced(step, step.stored(0), list(range(len(begins))), begins, ends, [1] * len(begins)))


def strided_slice(step: Step) -> None:
    """STRIDED_SLICE; where every axis is shrunk NNAPI keeps [1]."""
    begins, ends, strides = (step.value(position).tolist() for position in (1, 2, 3))
    begin_mask, end_mask, shrink_mask = (step.scalar(position) for position in (4, 5, 6))
    axes = list(range(len(begins)))
    shrunk = [axis for axis in axes if shrink_mask >> axis & 1]
    for axis in axes:
        if begin_mask >> axis & 1:
            begins[axis] = 0 if strides[axis] > 0 else FARTHEST
        if end_mask >> axis & 1:
            ends[axis] = FARTHEST if strides[axis] > 0 else -FARTHEST
    result = _sliced(step, step.stored(0), axes, begins, ends, strides)
    if shrunk:
        result = step.emit("Squeeze", result, step.integers(shrunk))
    step.bind(step.reshaped(result, [1]) if len(shrunk) == len(axes) else result)


def pad(step: Step) -> None:
    """PAD with the stored form of zero."""
    _pad(step, step.operand(0).zero_point)


def pad_v2(step: Step) -> None:
    """PAD_V2; the value of a quantised tensor is given as stored."""
    _pad(step, step.scalar(2))


def mirror_pad(step: Step) -> None:
    """MIRROR_PAD; ONNX has no symmetric mode: indexes are gathered instead."""
    paddings, name = step.value(1).tolist(), step.stored(0)
    for axis, (size, pair) in enumerate(zip(step.dimensions(0), paddings, strict=True)):
        indexes = np.pad(np.arange(size), pair, mode="symmetric" if step.scalar(2) else "reflect")
        name = step.emit("Gather", name, step.integers(indexes), axis=axis)
    step.bind(name)


def depth_to_space(step: Step) -> None:
    """DEPTH_TO_SPACE."""
    _blockwise(step, "DepthToSpace")


def space_to_depth(step: Step) -> None:
    """SPACE_TO_DEPTH."""
    _blockwise(step, "SpaceToDepth")


def batch_to_space_nd(step: Step) -> None:
    """BATCH_TO_SPACE_ND: block rows and columns, which are outermost in the batch, moved into the image."""
    (height, width), dimensions = step.value(1).tolist(), _first(step, step.dimensions(0), 2)
    batch, channels, rows, columns = dimensions
    batch //= height * width
    parted = step.reshaped(_channels_first(step, 2), [height, width, batch, channels, rows, columns])
    moved = step.transposed(parted, [2, 3, 4, 0, 5, 1])
    _deliver(step, step.reshaped(moved, [batch, channels, rows * height, columns * width]), 2)


def space_to_batch_nd(step: Step) -> None:
    """SPACE_TO_BATCH_ND: the reverse, after padding."""
    (height, width), paddings = step.value(1).tolist(), step.value(2).tolist()
    batch, channels, *sizes = _first(step, step.dimensions(0), 3)
    rows, columns = (size + sum(pair) for size, pair in zip(sizes, paddings, strict=True))
    check_size([batch, channels, rows, columns])
    padded = _padded(step, _channels_first(step, 3), [[0, 0], [0, 0], *paddings], step.operand(0).zero_point)
    rows, columns = rows // height, columns // width
    parted = step.reshaped(padded, [batch, channels, rows, height, columns, width])
    moved = step.transposed(parted, [3, 5, 0, 1, 2, 4])
    _deliver(step, step.reshaped(moved, [height * width * batch, channels, rows, columns]), 3)


def channel_shuffle(step: Step) -> None:
    """CHANNEL_SHUFFLE: groups and members as two axes, exchanged."""
    dimensions, groups = step.dimensions(0), step.scalar(1)
    (axis,) = wrapped_axes([step.scalar(2)], len(dimensions))
    before, after = math.prod(dimensions[:axis]), math.prod(dimensions[axis + 1 :])
    grouped = step.reshaped(step.stored(0), [before, groups, dimensions[axis] // groups, after])
    step.bind(step.reshaped(step.transposed(grouped, [0, 2, 1, 3]), dimensions))


def embedding_lookup(step: Step) -> None:
    """EMBEDDING_LOOKUP: rows gathered."""
    step.bind(step.emit("Gather", step.stored(1), _indexes(step, 0), axis=0))


def hashtable_lookup(step: Step) -> None:
    """HASHTABLE_LOOKUP: each key compared with all; a row that is not found is zero."""
    count, rank = step.dimensions(0)[0], len(step.dimensions(2))
    equal = step.emit("Equal", step.reshaped(step.stored(0), [count, 1]), step.stored(1))
    found = step.emit("ReduceMax", step.cast(equal, np.int32), step.integers([1]), keepdims=0)
    places = step.emit("ArgMax", step.cast(equal, np.int32), axis=1, keepdims=0)
    rows = step.emit("Gather", step.stored(2), places, axis=0)
    condition = step.reshaped(step.cast(found, np.bool_), [count] + [1] * (rank - 1))
    step.bind(step.emit("Where", condition, rows, step.number(0, storage_dtype(step.operand(2)))))
    step.bind(step.cast(found, np.uint8), 1)


def _indexes(step: Step, position: int) -> str:
    """The indexes of an input; negative ones, which ONNX counts from the end, moved out of range: they fail the run."""
    indexes = step.stored(position)
    is_negative = step.emit("Less", indexes, step.number(0, np.int32))
    return step.emit("Where", is_negative, step.number(FARTHEST, np.int32), indexes)


def _sliced(
    step: Step, name: str, axes: Sequence[int], begins: Sequence[int], ends: Sequence[int], strides: Sequence[int]
) -> str:
    return step.emit("Slice", name, *map(step.integers, (begins, ends, axes, strides)))


def _pad(step: Step, value: float) -> None:
    paddings = step.value(1).tolist()
    check_size([size + sum(pair) for size, pair in zip(step.dimensions(0), paddings, strict=True)])
    step.bind(_padded(step, step.stored(0), paddings, value))


def _padded(step: Step, name: str, paddings: Sequence[Sequence[int]], value: float) -> str:
    if min(min(pair) for pair in paddings) < 0:
        raise LoweringError("a negative padding")
    sides = [pair[side] for side in (0, 1) for pair in paddings]
    return step.emit("Pad", name, step.integers(sides), step.number(value, storage_dtype(step.operand(0))))


def _blockwise(step: Step, operator: str) -> None:
    _deliver(step, step.emit(operator, _channels_first(step, 2), blocksize=step.scalar(1)), 2)


def _first(step: Step, dimensions: Sequence[int], flag: int) -> list[int]:
    """Dimensions of the input with its channels first. flag: position of the layout flag."""
    return list(dimensions) if step.scalar(flag, 0) else [dimensions[axis] for axis in (0, 3, 1, 2)]


def _channels_first(step: Step, flag: int) -> str:
    return step.stored(0) if step.scalar(flag, 0) else step.transposed(step.stored(0), (0, 3, 1, 2))


def _deliver(step: Step, name: str, flag: int) -> None:
    step.bind(name if step.scalar(flag, 0) else step.transposed(name, (0, 2, 3, 1)))
