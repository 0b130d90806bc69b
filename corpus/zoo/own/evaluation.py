"""What the project's own models compute, in float64, for many samples at once: a witness for golden outputs.

The formulas are those of the operation catalogue. A tensor's first axis is the sample's, whatever batch the model
declares. Floats are rounded once, at the model's outputs; quantised tensors after each operation, halves away from
zero. `corpus.oracles` says the same in exact fractions, one sample at a time, and far more slowly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from npu_conformance.specs.neuralnetworks.enums import FusedActivation, OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array, Graph, Vector, VectorOperand, VectorOperation

_SAME = 1
_LIMITS = {
    FusedActivation.NONE: (-numpy.inf, numpy.inf),
    FusedActivation.RELU: (0.0, numpy.inf),
    FusedActivation.RELU1: (-1.0, 1.0),
    FusedActivation.RELU6: (0.0, 6.0),
}


def evaluate(model: Graph | Vector, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs of a model by name, as they are stored; arrays have the samples' axis first."""
    found = all_tensors(model, inputs)
    return {name: as_stored(model.operands[name], found[name]) for name in model.outputs}


def all_tensors(model: Graph | Vector, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Real values of every tensor that is no constant, by name. inputs: stored elements by name."""
    reals = {name: real_values(model.operands[name], array) for name, array in inputs.items()}
    for operation in model.operations:
        reals.update(step(model.operands, operation, reals))
    return reals


def step(
    operands: Mapping[str, VectorOperand], operation: VectorOperation, reals: Mapping[str, Array]
) -> dict[str, Array]:
    """The real values of one operation's results; KeyError for an operation without formula."""
    arguments = [_argument(operands, name, reals) for name in operation.inputs]
    if operation.type in _WITH_BIAS:
        source, weights, bias = (operands[name] for name in operation.inputs[:3])
        arguments[2] = _bias(source, weights, bias, arguments[2])
    if operation.type in _ON_STORED:
        return _on_stored(operands, operation, arguments)
    results = _FORMULAS[operation.type](*arguments)
    return {
        name: _settled(operands[name], array)
        for name, array in zip(operation.outputs, results, strict=True)
        if array is not None
    }


def real_values(operand: VectorOperand, array: Array) -> Array:
    """What stored elements stand for, as float64; integers that are not quantised stay what they are."""
    if not OPERAND_TYPES[operand.type].is_quantized:
        return array.astype(numpy.float64) if array.dtype.kind == "f" else array
    if operand.channel_quant is None:
        return (array.astype(numpy.float64) - operand.zero_point) * operand.scale
    scales = numpy.array(operand.channel_quant.scales)
    shape = [1] * array.ndim
    shape[operand.channel_quant.channel_dim] = -1
    reals: Array = array.astype(numpy.float64) * scales.reshape(shape)
    return reals


def as_stored(operand: VectorOperand, reals: Array) -> Array:
    """The elements that are stored for real values: rounded to the type, or requantised and saturated."""
    dtype = numpy.dtype(OPERAND_TYPES[operand.type].dtype)
    if not OPERAND_TYPES[operand.type].is_quantized:
        return reals.astype(dtype)
    limits = numpy.iinfo(dtype)
    steps = half_away(reals / operand.scale) + operand.zero_point
    stored: Array = numpy.clip(steps, limits.min, limits.max).astype(dtype)
    return stored


def half_away(values: Array) -> Array:
    """The nearest integers, halves away from zero."""
    return numpy.copysign(numpy.floor(numpy.abs(values) + 0.5), values)


def _settled(operand: VectorOperand, reals: Array) -> Array:
    """Real values after the rounding of a quantised tensor; those of floats are not rounded in between."""
    return real_values(operand, as_stored(operand, reals)) if OPERAND_TYPES[operand.type].is_quantized else reals


def _argument(operands: Mapping[str, VectorOperand], name: str, reals: Mapping[str, Array]) -> Any:
    operand = operands[name]
    if operand.omitted:
        return None
    if operand.value is None:
        return reals[name]
    values = real_values(operand, operand.value)
    return values if OPERAND_TYPES[operand.type].is_tensor else values.item()


def _activated(values: Array, activation: int) -> Array:
    return numpy.clip(values, *_LIMITS[FusedActivation(activation)])


def _windows(source: Array, window: tuple[int, int], strides: tuple[int, int], padding: int) -> list[Array]:
    """For each tap of a window, in row-major order, the elements that it meets: [sample, row, column, channel]."""
    pads, counts = [(0, 0)], []
    for size, length, stride in zip(source.shape[1:3], window, strides, strict=True):
        count = -(-size // stride) if padding == _SAME else (size - length) // stride + 1
        missing = max((count - 1) * stride + length - size, 0) if padding == _SAME else 0
        pads.append((missing // 2, missing - missing // 2))
        counts.append(count)
    padded = numpy.pad(source, [*pads, (0, 0)])
    return [
        padded[
            :,
            row : row + (counts[0] - 1) * strides[0] + 1 : strides[0],
            column : column + (counts[1] - 1) * strides[1] + 1 : strides[1],
        ]
        for row in range(window[0])
        for column in range(window[1])
    ]


def _conv_2d(
    source: Array, weights: Array, bias: Array, padding: int, across: int, down: int, activation: int
) -> tuple[Array]:
    taps = _windows(source, (weights.shape[1], weights.shape[2]), (down, across), padding)
    total = numpy.concatenate(taps, axis=-1) @ weights.reshape(weights.shape[0], -1).T
    return (_activated(total + bias, activation),)


def _depthwise_conv_2d(
    source: Array, weights: Array, bias: Array, padding: int, across: int, down: int, multiplier: int, activation: int
) -> tuple[Array]:
    taps = _windows(source, (weights.shape[1], weights.shape[2]), (down, across), padding)
    filters = weights.reshape(len(taps), weights.shape[3])
    total = sum(tap.repeat(multiplier, axis=-1) * filters[place] for place, tap in enumerate(taps))
    return (_activated(total + bias, activation),)


def _add(first: Array, second: Array, activation: int) -> tuple[Array]:
    return (_activated(first + second, activation),)


def _fully_connected(source: Array, weights: Array, bias: Array, activation: int) -> tuple[Array]:
    return (_activated(source.reshape(-1, weights.shape[1]) @ weights.T + bias, activation),)


def _softmax(source: Array, beta: float) -> tuple[Array]:
    powers = numpy.exp(beta * (source - source.max(axis=-1, keepdims=True)))
    return (powers / powers.sum(axis=-1, keepdims=True),)


def _logistic(source: Array) -> Array:
    return 1.0 / (1.0 + numpy.exp(-source))


def _lstm(source: Array, *arguments: Any) -> tuple[None, Array, Array, Array]:
    """A cell with an input gate, without peepholes, projection, norms and clips, whose activation is tanh."""
    kernels, recurrent, biases = arguments[0:4], arguments[4:8], arguments[11:15]
    hidden, cell = arguments[17:19]
    sums = [
        source @ kernel.T + hidden @ back.T + bias
        for kernel, back, bias in zip(kernels, recurrent, biases, strict=True)
    ]
    input_gate, forget_gate, output_gate = (_logistic(sums[place]) for place in (0, 1, 3))
    cell = forget_gate * cell + input_gate * numpy.tanh(sums[2])
    hidden = output_gate * numpy.tanh(cell)
    return None, hidden, cell, hidden


def _bias(source: VectorOperand, weights: VectorOperand, bias: VectorOperand, values: Array) -> Array:
    """A bias as real numbers: an int32 one has the scale of the products that it is added to."""
    if bias.type is not OperandType.TENSOR_INT32:
        return values
    scales = weights.channel_quant.scales if weights.channel_quant else [weights.scale]
    return values.astype(numpy.float64) * (source.scale * numpy.array(scales))


def _on_stored(
    operands: Mapping[str, VectorOperand], operation: VectorOperation, arguments: Sequence[Any]
) -> dict[str, Array]:
    """Pools work on stored integers, since halves are frequent: input and output share scale and zero point."""
    (name,), (source, *parameters) = operation.outputs, arguments
    operand, formula = operands[name], _ON_STORED[operation.type]
    if not OPERAND_TYPES[operand.type].is_quantized:
        return {name: formula(source, *parameters)}
    pooled = formula(as_stored(operand, source).astype(numpy.float64), *parameters)
    return {name: (half_away(pooled) - operand.zero_point) * operand.scale}


def _average_pool_2d(
    source: Array, padding: int, across: int, down: int, width: int, height: int, activation: int
) -> Array:
    _check_pool(padding, activation)
    means: Array = numpy.mean(_windows(source, (height, width), (down, across), padding), axis=0)
    return means


def _max_pool_2d(
    source: Array, padding: int, across: int, down: int, width: int, height: int, activation: int
) -> Array:
    _check_pool(padding, activation)
    largest: Array = numpy.max(_windows(source, (height, width), (down, across), padding), axis=0)
    return largest


def _check_pool(padding: int, activation: int) -> None:
    """Raises ValueError for a pool with padding or an activation, which none of the project's own models has."""
    if padding == _SAME or activation != FusedActivation.NONE:
        raise ValueError(f"a pool with padding scheme {padding} and activation {activation}")


_FORMULAS: Mapping[str, Callable[..., tuple[Array | None, ...]]] = {
    "ADD": _add,
    "CONV_2D": _conv_2d,
    "DEPTHWISE_CONV_2D": _depthwise_conv_2d,
    "FULLY_CONNECTED": _fully_connected,
    "LSTM": _lstm,
    "SOFTMAX": _softmax,
}
_ON_STORED: Mapping[str, Callable[..., Array]] = {
    "AVERAGE_POOL_2D": _average_pool_2d,
    "MAX_POOL_2D": _max_pool_2d,
}
_WITH_BIAS = {"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"}
