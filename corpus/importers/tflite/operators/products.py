"""FULLY_CONNECTED."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.corpus.importers.tflite.errors import Unsupported
from npu_conformance.corpus.importers.tflite.operators.biases import bias
from npu_conformance.corpus.importers.tflite.step import FUSED_IN_NNAPI, Step
from npu_conformance.corpus.vectors import VectorOperand

_VALID = 2
"""NNAPI's code of the padding scheme."""


def fully_connected(step: Step) -> None:
    """FULLY_CONNECTED; with per-channel weights, which NNAPI's has not, CONV_2D of an image of one pixel."""
    if step.operator.option("WeightsFormat"):
        raise Unsupported("NNAPI has no shuffled weights")
    weights = step.operand(1)
    if len(weights.dimensions) != 2:
        raise Unsupported(f"its weights have the shape {list(weights.dimensions)}")
    flat = _flat(step, weights)
    if weights.channel_quant:
        _per_channel(step, weights, flat)
        return
    if flat.dimensions != step.result().dimensions:
        if step.activation() not in FUSED_IN_NNAPI:
            raise Unsupported("it keeps more than two dimensions, and has a fused TANH")
        inner = step.emit("FULLY_CONNECTED", [*_arguments(step), step.int32(step.activation())], flat)
        step.apply("RESHAPE", [inner, step.vector(step.result().dimensions)])
        return
    step.activated("FULLY_CONNECTED", _arguments(step))


def _per_channel(step: Step, weights: VectorOperand, flat: VectorOperand) -> None:
    """CONV_2D with a filter of one pixel for each unit, over images of one pixel."""
    (rows, units), size = flat.dimensions, weights.dimensions[1]
    image = replace(step.operand(0), dimensions=(rows, 1, 1, size), value=None)
    pixels = step.emit("RESHAPE", [step.name(0), step.vector(image.dimensions)], image)
    kernel = replace(weights, dimensions=(units, 1, 1, size), value=None)
    filters = step.translation.builder.constant(kernel, step.constant(1).reshape(kernel.dimensions))
    window = [step.int32(value) for value in (_VALID, 1, 1, step.activation())]
    arguments = [pixels, filters, bias(step, 2, 0, 1, channel_axis=0), *window]
    result = step.emit("CONV_2D", arguments, replace(flat, dimensions=(rows, 1, 1, units)))
    step.apply("RESHAPE", [result, step.vector(step.result().dimensions)])


def _arguments(step: Step) -> list[str]:
    """Input, weights and bias; an input of one axis becomes a row."""
    source = step.name(0)
    dimensions = step.operand(0).dimensions
    if len(dimensions) == 1:
        row = (1, *dimensions)
        source = step.emit("RESHAPE", [source, step.vector(row)], replace(step.operand(0), dimensions=row, value=None))
    return [source, step.name(1), bias(step, 2, 0, 1, channel_axis=0)]


def _flat(step: Step, weights: VectorOperand) -> VectorOperand:
    """The result with two axes, as NNAPI has it."""
    units, result = weights.dimensions[0], step.result()
    count = 1
    for size in result.dimensions:
        count *= size
    return replace(result, dimensions=(count // units, units))
