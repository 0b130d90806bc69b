"""A float32 net that grows layer by layer with random weights, fitted to the training data that flows through it.

Nothing is trained by steps: hidden layers are random and scaled to unit variance, the last one is a least-squares fit.
Weights are rounded to multiples of 2**-12, so that the last bits of a machine's linear algebra do not show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from npu_conformance.corpus.model_builder import ModelBuilder
from npu_conformance.corpus.vector_types import VectorOperand, VectorOperation
from npu_conformance.corpus.zoo.own.evaluation import step
from npu_conformance.specs.neuralnetworks.enums import FusedActivation, OperandType
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array, Vector

_SAME, _VALID = 1, 2
_GRID = 4096.0
_NORMALISED = 200
"""How many samples the mean and the variance of a layer are taken from."""
_TENSOR = VectorOperand(OperandType.TENSOR_FLOAT32)


class GrowingNet:
    """Layers by name of their results. `values` holds what the training data gives at each, in float64."""

    def __init__(self, version: Version, seed: int) -> None:
        self._builder, self._random = ModelBuilder(version), numpy.random.default_rng(seed)
        self.values: dict[str, Array] = {}

    def input(self, values: Array, name: str) -> str:
        """A model input. values: the training data, [samples, ...]."""
        shape = (1, *values.shape[1:])
        self.values[name] = values.astype(numpy.float64)
        operand = VectorOperand(OperandType.TENSOR_FLOAT32, shape)
        return self._builder.input(operand, numpy.zeros(shape, numpy.float32), name)

    def convolution(self, source: str, channels: int, size: int, stride: int = 1, activation: int = 0) -> str:
        """CONV_2D with random filters, whose results have mean about 0 and variance 1."""
        shape = (channels, size, size, self.values[source].shape[3])
        return self._filtered("CONV_2D", source, shape, (1, 2, 3), 0, (_SAME, stride, stride), activation)

    def depthwise(self, source: str, size: int, stride: int = 1, activation: int = 0) -> str:
        """DEPTHWISE_CONV_2D with one random filter for each channel, normalised likewise."""
        shape = (1, size, size, self.values[source].shape[3])
        return self._filtered("DEPTHWISE_CONV_2D", source, shape, (0, 1, 2), 3, (_SAME, stride, stride, 1), activation)

    def add(self, first: str, second: str) -> str:
        """ADD of two layers of the same shape."""
        return self.apply("ADD", [first, second, self.scalar(0)])

    def pool(self, operation: str, source: str, size: int) -> str:
        """A pool whose windows neither overlap nor are padded."""
        parameters = [self.scalar(value) for value in (_VALID, size, size, size, size, FusedActivation.NONE)]
        return self.apply(operation, [source, *parameters])

    def fit(self, source: str, targets: Array, ridge: float) -> str:
        """FULLY_CONNECTED whose weights are the least-squares fit to targets [samples, units]."""
        features = self.values[source].reshape(len(targets), -1)
        weights, bias = least_squares(features, targets, ridge)
        return self.apply("FULLY_CONNECTED", [source, self.constant(weights), self.constant(bias), self.scalar(0)])

    def softmax(self, source: str) -> str:
        """SOFTMAX with beta 1."""
        operand = VectorOperand(OperandType.FLOAT32)
        return self.apply("SOFTMAX", [source, self._builder.constant(operand, numpy.array(1.0, numpy.float32))])

    def apply(self, operation: str, arguments: Sequence[str]) -> str:
        """Add an operation with one result; returns its name."""
        (name,) = self._builder.apply(operation, arguments, [_TENSOR])
        names = [*arguments, name]
        operands = {operand: self._builder.operand(operand) for operand in names}
        self.values.update(step(operands, VectorOperation(operation, tuple(arguments), (name,)), self.values))
        return name

    def scalar(self, value: int) -> str:
        """An INT32 or BOOL parameter."""
        return self._builder.constant(VectorOperand(OperandType.INT32), numpy.array(value, numpy.int32))

    def constant(self, values: Array) -> str:
        """A float32 tensor, rounded to the grid."""
        return self._builder.constant(VectorOperand(OperandType.TENSOR_FLOAT32, values.shape), on_grid(values))

    def vector(self, name: str, outputs: Sequence[str]) -> Vector:
        """The model; its example has inputs of 0 and no expected values."""
        return self._builder.vector(name, "CONV_2D", outputs)

    def _filtered(
        self,
        operation: str,
        source: str,
        shape: tuple[int, ...],
        inner: tuple[int, ...],
        channel: int,
        parameters: Sequence[int],
        activation: int,
    ) -> str:
        weights = self._random.standard_normal(shape)
        weights -= weights.mean(axis=inner, keepdims=True) * 0.5
        offsets = self._random.uniform(-0.5, 0.5, shape[channel])
        plain = self._response(operation, source, weights, parameters)
        mean, spread = plain.mean(axis=(0, 1, 2)), plain.std(axis=(0, 1, 2))
        sizes = [1] * len(shape)
        sizes[channel] = -1
        scaled, bias = weights / spread.reshape(sizes), offsets - mean / spread
        words = [self.scalar(value) for value in (*parameters, activation)]
        return self.apply(operation, [source, self.constant(scaled), self.constant(bias), *words])

    def _response(self, operation: str, source: str, weights: Array, parameters: Sequence[int]) -> Array:
        """What filters give without bias and activation."""
        channels = weights.shape[0] if operation == "CONV_2D" else weights.shape[3]
        constants = {"weights": weights, "bias": numpy.zeros(channels)}
        few = {source: self.values[source][:_NORMALISED]}
        reals: dict[str, Any] = {
            **few,
            **constants,
            **{f"p{place}": value for place, value in enumerate((*parameters, 0))},
        }
        names = [source, "weights", "bias", *(f"p{place}" for place in range(len(parameters) + 1))]
        given = step(dict.fromkeys([*names, "out"], _TENSOR), VectorOperation(operation, tuple(names), ("out",)), reals)
        return given["out"]


def least_squares(features: Array, targets: Array, ridge: float) -> tuple[Array, Array]:
    """Weights [units, features] and bias [units] of the ridge regression; the bias is not shrunk."""
    centre, level = features.mean(axis=0), targets.mean(axis=0)
    shifted = features - centre
    gram = shifted.T @ shifted + ridge * len(features) * numpy.eye(features.shape[1])
    weights = numpy.linalg.solve(gram, shifted.T @ (targets - level)).T
    return weights, level - weights @ centre


def on_grid(values: Array) -> Array:
    """Multiples of 2**-12, as float32."""
    return (numpy.rint(values * _GRID) / _GRID).astype(numpy.float32)
