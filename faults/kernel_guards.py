"""What a guard sees of an operation (`Met`), and the functions that make results of at least one axis wrong behind it.

The guards are in `guarded_kernels.json`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.tensors import Array, OutputInfo
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.operation_view import OperationView

_CONSTANTS = (OperandLifeTime.CONSTANT_COPY, OperandLifeTime.CONSTANT_POOL)
_CODES = 3
"""How many steps a quantised result is off by: more than any tolerance."""


class Met:
    """An operation that is executed. Scalar inputs are attributes, by their names in the catalogue.

    out: shape of the first result. info: what was known of it beforehand.
    """

    def __init__(self, view: OperationView, results: Sequence[Array], infos: Sequence[OutputInfo]) -> None:
        self._view = view
        self.out, self.info = tuple(results[0].shape), infos[0]

    def __getattr__(self, name: str) -> int:
        value = self._view.integer(name)
        return -1 if value is None else value

    @property
    def variant(self) -> str:
        """Which of the signatures it has, such as `explicit`."""
        return self._view.variant

    @property
    def input_count(self) -> int:
        """Number of inputs in the list."""
        return self._view.input_count

    def has(self, name: str | int) -> bool:
        """True for an input that is there."""
        return self._view.has(name)

    def shape(self, name: str | int = 0) -> tuple[int, ...]:
        """The shape of an input; of the first one by default."""
        return tuple(size or 0 for size in self._view.dimensions(name) or ())

    def numbers(self, name: str | int) -> tuple[int, ...]:
        """The elements of an input, flat."""
        return self._view.integers(name) or ()

    def lowest(self, name: str | int = 0) -> float:
        """The smallest element of an input."""
        value = self._view.value(name)
        return math.inf if value is None or not value.size else float(value.min())

    def is_constant(self, name: str | int) -> bool:
        """True for an input whose value the model has."""
        return self._view.operand(name).lifetime in _CONSTANTS

    def scale(self, name: str | int = 0) -> float:
        """The scale of an input."""
        return self._view.operand(name).scale

    def zero(self, name: str | int = 0) -> int:
        """The zero point of an input."""
        return self._view.operand(name).zero_point

    def kind(self, name: str | int = 0) -> str:
        """`float32`, `float16`, `quant8`, `int8`, `int32` ...: the type of an input."""
        return _NAMES.get(self._view.operand(name).type, "other")

    @property
    def count(self) -> int:
        """Number of elements of the first result."""
        return math.prod(self.out)

    @property
    def is_quantized(self) -> bool:
        """True where the first result is quantised."""
        return OPERAND_TYPES[self.info.operand_type].is_quantized

    @property
    def image(self) -> tuple[int, int, int, int]:
        """Batch, height, width and channels of the first input, whatever its layout."""
        batch, *rest = self.shape()
        channels, height, width = rest if self.nchw_layout == 1 else (rest[2], rest[0], rest[1])
        return batch, height, width, channels

    @property
    def window(self) -> tuple[int, ...]:
        """Height and width of the filter of a convolution."""
        return self.shape("filter")[1:3]

    @property
    def kernel(self) -> tuple[int, int]:
        """Height and width of the window of a pool."""
        return self.filter_height, self.filter_width

    @property
    def strides(self) -> tuple[int, int]:
        """Height and width of a step."""
        return self.stride_height, self.stride_width

    @property
    def keeps_scale(self) -> bool:
        """True where the first result has the scale of the first input."""
        return self.is_quantized and self.scale() == self.info.scale

    @property
    def shares(self) -> str:
        """What all 8-bit operands have in common: `scale`, `zero point`, `quantization`, or nothing."""
        rows = [(self.scale(one), self.zero(one)) for one in range(self.input_count) if self.kind(one) in _BYTES]
        rows += [(self.info.scale, self.info.zero_point)] if self.is_quantized and rows else []
        scales, points = {scale for scale, _ in rows}, {point for _, point in rows}
        if len(rows) < 2 or len(scales) > 1 < len(points):
            return ""
        return "quantization" if len(scales) == len(points) else "scale" if len(scales) == 1 else "zero point"

    @property
    def axis_from_0(self) -> int:
        """The axis, counted from the front."""
        axis = self.axis if self._view.index("axis") >= 0 else -1
        return axis % max(len(self.shape()), 1)


_NAMES: dict[int, str] = {
    OperandType.TENSOR_FLOAT32: "float32", OperandType.TENSOR_FLOAT16: "float16", OperandType.TENSOR_INT32: "int32",
    OperandType.TENSOR_QUANT8_ASYMM: "quant8", OperandType.TENSOR_QUANT8_ASYMM_SIGNED: "int8",
    OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL: "per_channel", OperandType.TENSOR_QUANT8_SYMM: "symm8",
    OperandType.TENSOR_QUANT16_SYMM: "int16", OperandType.TENSOR_BOOL8: "bool8",
}  # fmt: skip


_BYTES = ("quant8", "int8")


def tail(result: Array) -> Array:
    """the last element of each row is the one before it"""
    if result.shape[-1] < 2:
        return late(result)
    copy = result.copy()
    copy[..., -1] = copy[..., -2]
    return copy


def late(result: Array) -> Array:
    """the last element is the first one"""
    copy = result.copy()
    if copy.size < 2:
        return off(copy)
    copy.flat[-1] = copy.flat[0]
    return copy


def off(result: Array) -> Array:
    """results are a little too large"""
    if result.dtype == numpy.bool_ or result.dtype.kind == "f":
        return ~result if result.dtype == numpy.bool_ else (result * 1.03 + 0.02).astype(result.dtype)
    limits = numpy.iinfo(result.dtype)
    moved: Array = numpy.clip(result.astype(numpy.int64) + _CODES, limits.min, limits.max).astype(result.dtype)
    return moved


def batches(result: Array) -> Array:
    """all batches are like the first one"""
    copy = result.copy()
    copy[1:] = copy[:1]
    return copy


def rolled(result: Array) -> Array:
    """rows begin at their second element"""
    if result.shape[-1] < 2:
        return numpy.roll(result.reshape(-1), 1).reshape(result.shape)
    return numpy.roll(result, -1, axis=-1)


def edge(result: Array) -> Array:
    """the last index of axis 1 is like the first one"""
    if result.ndim < 2 or result.shape[1] < 2:
        return late(result)
    copy = result.copy()
    copy[:, -1] = copy[:, 0]
    return copy


def head(result: Array) -> Array:
    """the first element is the last one"""
    copy = result.copy()
    if copy.size < 2:
        return off(copy)
    copy.flat[0] = copy.flat[-1]
    return copy
