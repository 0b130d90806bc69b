"""The quantised twin of a float32 model: calibrated ranges, weights per channel or per layer, the same operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy
from msgspec.structs import replace

from npu_conformance.corpus.model_builder import ModelBuilder
from npu_conformance.corpus.vector_types import ChannelQuant, VectorOperand
from npu_conformance.corpus.zoo.own.evaluation import all_tensors, as_stored, half_away
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import NEWEST, Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array, Vector, VectorOperation

_CHANNEL_DIMS = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3}
_WITH_WEIGHTS = {*_CHANNEL_DIMS, "FULLY_CONNECTED"}
_KEEP_SCALE = {"AVERAGE_POOL_2D", "MAX_POOL_2D"}


@dataclass(frozen=True)
class Scheme:
    """How tensors are quantised. per_channel: weights of convolutions have a scale for each output channel."""

    type: OperandType
    per_channel: bool
    version: Version

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest stored integer."""
        return (-128, 127) if self.type is OperandType.TENSOR_QUANT8_ASYMM_SIGNED else (0, 255)


SIGNED = Scheme(OperandType.TENSOR_QUANT8_ASYMM_SIGNED, True, NEWEST)
"""Asymmetric signed activations, symmetric weights per channel: HAL 1.3."""
UNSIGNED = Scheme(OperandType.TENSOR_QUANT8_ASYMM, False, Version.V1_0)
"""Asymmetric unsigned activations and weights, one scale for a layer: HAL 1.0."""


def quantized(vector: Vector, calibration: Mapping[str, Array], scheme: Scheme, name: str) -> Vector:
    """The twin of a float32 model. calibration: inputs from whose results the ranges of tensors are taken."""
    return _Twin(vector, all_tensors(vector, calibration), scheme).vector(name)


class _Twin:
    def __init__(self, vector: Vector, reals: Mapping[str, Array], scheme: Scheme) -> None:
        self._source, self._reals, self._scheme = vector, reals, scheme
        self._builder = ModelBuilder(scheme.version)
        self._names: dict[str, str] = {}
        """What operands of the float model are called in the twin."""

    def vector(self, name: str) -> Vector:
        for given in self._source.inputs:
            operand = self._calibrated(given)
            shape = self._source.operands[given].dimensions
            zeros: Array = numpy.full(shape, operand.zero_point, self._dtype)
            self._names[given] = self._builder.input(replace(operand, dimensions=shape), zeros, given)
        for operation in self._source.operations:
            self._add(operation)
        return self._builder.vector(name, self._source.operation, [self._names[out] for out in self._source.outputs])

    @property
    def _dtype(self) -> type:
        return numpy.int8 if self._scheme.limits[0] else numpy.uint8

    def _add(self, operation: VectorOperation) -> None:
        weights = operation.inputs[1:3] if operation.type in _WITH_WEIGHTS else ()
        if weights:
            self._weigh(operation)
        arguments = [self._names.get(name) or self._copy(name) for name in operation.inputs]
        (result,) = operation.outputs
        (self._names[result],) = self._builder.apply(operation.type, arguments, [self._result(operation, result)])

    def _copy(self, name: str) -> str:
        """A parameter: the same in both models."""
        operand = self._source.operands[name]
        assert operand.value is not None
        self._names[name] = self._builder.constant(operand, operand.value)
        return self._names[name]

    def _result(self, operation: VectorOperation, name: str) -> VectorOperand:
        if operation.type == "SOFTMAX":
            return VectorOperand(self._scheme.type, (), 1 / 256, self._scheme.limits[0])
        if operation.type in _KEEP_SCALE:
            return replace(self._builder.operand(self._names[operation.inputs[0]]), dimensions=())
        return self._calibrated(name)

    def _calibrated(self, name: str) -> VectorOperand:
        values = self._reals[name]
        scale, zero_point = affine(float(values.min()), float(values.max()), self._scheme.limits)
        return VectorOperand(self._scheme.type, (), scale, zero_point)

    def _weigh(self, operation: VectorOperation) -> None:
        """Weights and bias; the bias has the scale of the products that it is added to."""
        source, weights, bias = operation.inputs[:3]
        values, offsets = self._source.operands[weights].value, self._source.operands[bias].value
        assert values is not None
        assert offsets is not None
        operand = self._weights(operation.type, values)
        self._names[weights] = self._builder.constant(operand, _stored_weights(operand, values))
        scales = numpy.array(operand.channel_quant.scales if operand.channel_quant else [operand.scale])
        products = (scales * self._builder.operand(self._names[source]).scale).astype(numpy.float32)
        scale = 0.0 if operand.channel_quant else float(products[0])
        stored = half_away(offsets / products.astype(numpy.float64)).astype(numpy.int32)
        shape = offsets.shape
        self._names[bias] = self._builder.constant(VectorOperand(OperandType.TENSOR_INT32, shape, scale), stored)

    def _weights(self, operation: str, values: Array) -> VectorOperand:
        if self._scheme.per_channel and operation in _CHANNEL_DIMS:
            dim = _CHANNEL_DIMS[operation]
            rest = tuple(axis for axis in range(values.ndim) if axis != dim)
            scales = (numpy.abs(values).max(axis=rest) / 127).astype(numpy.float32)
            channels = ChannelQuant(tuple(map(float, scales)), dim)
            kind = OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL
            return VectorOperand(kind, values.shape, channel_quant=channels)
        if self._scheme.type is OperandType.TENSOR_QUANT8_ASYMM_SIGNED:
            return VectorOperand(self._scheme.type, values.shape, float(numpy.float32(numpy.abs(values).max() / 127)))
        scale, zero_point = affine(float(values.min()), float(values.max()), self._scheme.limits)
        return VectorOperand(self._scheme.type, values.shape, scale, zero_point)


def affine(low: float, high: float, limits: tuple[int, int]) -> tuple[float, int]:
    """Scale, an exact float32 value, and zero point of a range, which is widened to hold 0 exactly."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = float(numpy.float32((high - low) / (limits[1] - limits[0]) or 1.0))
    return scale, int(numpy.clip(round(limits[0] - low / scale), *limits))


def _stored_weights(operand: VectorOperand, values: Array) -> Array:
    """Symmetric weights never are -128, so that their range is the same on both sides."""
    if operand.type is OperandType.TENSOR_QUANT8_ASYMM:
        return as_stored(operand, values)
    scales = numpy.array([operand.scale])
    if operand.channel_quant is not None:
        shape = [1] * values.ndim
        shape[operand.channel_quant.channel_dim] = -1
        scales = numpy.array(operand.channel_quant.scales).reshape(shape)
    stored: Array = numpy.clip(half_away(values / scales), -127, 127).astype(numpy.int8)
    return stored
