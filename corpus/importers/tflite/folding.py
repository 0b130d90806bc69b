"""Operators whose result is known now: SHAPE and RANK, since the file says all shapes, and some of constants alone.

Converters leave such chains behind where they compute a shape, and DEQUANTIZE behind each constant of float16.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from npu_conformance.corpus.importers.tflite.contents import DTYPES, Tensor
from npu_conformance.corpus.importers.tflite.flatbuffer import Array
from npu_conformance.corpus.importers.tflite.step import Step

Fold = Callable[[Step, list[Array]], Array | None]
"""From the values of all inputs to that of the output, or to None where it is left to the device."""


def fold(step: Step) -> bool:
    """Compute the output of an operator, if that can be done here. The result has the type and shape of the file."""
    name, translation = step.operator.name, step.translation
    if len(step.operator.outputs) != 1 or name not in (*_OF_SHAPES, *_OF_CONSTANTS):
        return False
    target = step.output()
    if target.type not in DTYPES or target.is_sparse:
        return False
    if name in _OF_SHAPES:
        value: Array | None = np.asarray(_OF_SHAPES[name](step.tensor(0)), np.int64)
    else:
        value = _of_constants(step, target)
    if value is None or value.shape != target.shape:
        return False
    translation.know(target, np.ascontiguousarray(value, DTYPES[target.type]).reshape(target.shape))
    return True


def _of_constants(step: Step, target: Tensor) -> Array | None:
    tensors = [step.tensor(position) for position in range(step.input_count)]
    values = [step.translation.constant(tensor) for tensor in tensors]
    known = [value for value in values if value is not None]
    if not tensors or len(known) < len(values) or step.operator.option("FusedActivationFunction"):
        return None
    step.translation.take(math.prod(target.shape) * np.dtype(DTYPES[target.type]).itemsize)
    with np.errstate(all="ignore"):
        try:
            return _OF_CONSTANTS[step.operator.name](step, known)
        except (ValueError, IndexError, TypeError, OverflowError):
            # The constants do not go together: the rules of the operation say what is wrong with them.
            return None


def _dequantize(step: Step, values: list[Array]) -> Array | None:
    """Float16 as float32. A quantised constant is left to the device, which has a DEQUANTIZE for it."""
    return values[0].astype(np.float32) if values[0].dtype == np.float16 else None


def _cast(step: Step, values: list[Array]) -> Array | None:
    kinds = {step.tensor(0).type, step.output().type}
    return values[0].astype(DTYPES[step.output().type]) if kinds <= {"INT32", "INT64", "FLOAT32"} else None


def _pack(step: Step, values: list[Array]) -> Array | None:
    return np.stack(values, step.operator.option("Axis")) if _has_size(step, _total(values)) else None


def _concatenation(step: Step, values: list[Array]) -> Array | None:
    if not _is_plain(step) or not _has_size(step, _total(values)):
        return None
    return np.concatenate(values, step.operator.option("Axis"))


def _reshape(step: Step, values: list[Array]) -> Array:
    return values[0].reshape(step.output().shape)


def _transpose(step: Step, values: list[Array]) -> Array | None:
    return None if len(step.tensor(0).scales) > 1 else values[0].transpose(values[1].reshape(-1).tolist())


def _gather(step: Step, values: list[Array]) -> Array | None:
    option, (source, indexes) = step.operator.option, values
    if option("BatchDims") or not _is_plain(step) or (indexes < 0).any():
        return None
    if not _has_size(step, math.prod(np.delete(source.shape, option("Axis")).tolist()) * indexes.size):
        return None
    return np.asarray(source.take(indexes, option("Axis")))


def _slice(step: Step, values: list[Array]) -> Array | None:
    begin, shape = values[1].reshape(-1).tolist(), step.output().shape
    if len(begin) != len(shape) or min(begin, default=0) < 0:
        return None
    return np.asarray(values[0][tuple(slice(at, at + size) for at, size in zip(begin, shape, strict=True))])


def _strided_slice(step: Step, values: list[Array]) -> Array | None:
    option, source = step.operator.option, values[0]
    if option("EllipsisMask") or option("NewAxisMask") or option("Offset"):
        return None
    parts: list[Any] = []
    bounds = zip(*(value.reshape(-1).tolist() for value in values[1:]), strict=True)
    for axis, (begin, end, stride) in enumerate(bounds):
        if option("ShrinkAxisMask") >> axis & 1:
            parts.append(begin)
            continue
        open_begin, open_end = option("BeginMask") >> axis & 1, option("EndMask") >> axis & 1
        parts.append(slice(None if open_begin else begin, None if open_end else end, stride))
    return np.asarray(source[tuple(parts)])


def _arithmetic(function: Callable[[Array, Array], Array]) -> Fold:
    """Folds an operation on two constants that are no quantised codes; int32 wraps around, as in LiteRT."""

    def compute(step: Step, values: list[Array]) -> Array | None:
        one, other = values
        if one.dtype.name not in ("int32", "int64", "float32") or one.dtype != other.dtype:
            return None
        if math.prod(np.broadcast_shapes(one.shape, other.shape)) != math.prod(step.output().shape):
            return None
        return np.asarray(function(one, other))

    return compute


def _reduce_prod(step: Step, values: list[Array]) -> Array | None:
    axes = tuple(values[1].reshape(-1).tolist())
    is_integer = values[0].dtype.kind == "i" and _is_plain(step)
    keeps = bool(step.operator.option("KeepDims"))
    return np.asarray(values[0].prod(axes, keepdims=keeps, dtype=values[0].dtype)) if is_integer else None


def _fill(step: Step, values: list[Array]) -> Array | None:
    shape = step.output().shape
    return np.full(shape, values[1]) if values[1].size == 1 and values[0].reshape(-1).tolist() == list(shape) else None


def _total(values: list[Array]) -> int:
    return sum(value.size for value in values)


def _has_size(step: Step, count: int) -> bool:
    """True where the output has so many elements in the file, which is asked before they are made."""
    return count == math.prod(step.output().shape)


def _is_plain(step: Step) -> bool:
    """True where the elements stand for themselves."""
    return step.output().type in ("INT32", "INT64", "FLOAT32", "BOOL")


_OF_SHAPES: Mapping[str, Callable[[Tensor], object]] = {
    "SHAPE": lambda tensor: tensor.shape,
    "RANK": lambda tensor: len(tensor.shape),
}

_OF_CONSTANTS: Mapping[str, Fold] = {
    "DEQUANTIZE": _dequantize,
    "CAST": _cast,
    "PACK": _pack,
    "CONCATENATION": _concatenation,
    "RESHAPE": _reshape,
    "SQUEEZE": _reshape,
    "EXPAND_DIMS": _reshape,
    "TRANSPOSE": _transpose,
    "GATHER": _gather,
    "SLICE": _slice,
    "STRIDED_SLICE": _strided_slice,
    "REDUCE_PROD": _reduce_prod,
    "FILL": _fill,
    "ADD": _arithmetic(np.add),
    "SUB": _arithmetic(np.subtract),
    "MUL": _arithmetic(np.multiply),
    "MAXIMUM": _arithmetic(np.maximum),
    "MINIMUM": _arithmetic(np.minimum),
}
