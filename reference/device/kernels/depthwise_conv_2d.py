"""DEPTHWISE_CONV_2D."""

import numpy

from npu_conformance.reference.device.activation import activate
from npu_conformance.reference.device.products import products_of
from npu_conformance.reference.device.quantization import store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required
from npu_conformance.reference.device.windows import (
    Axis,
    axes,
    from_nhwc,
    pad,
    positions,
    read_parameters,
    summed_inside,
    to_nhwc,
)


def depthwise_conv_2d(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[n, y, x, c * multiplier + m] = activation(bias + sum over the window of input[c] * filter[0, :, :, same]).

    The filter is [1, height, width, output channels] in both layouts.
    """
    parameters = read_parameters(inputs, first=3, extra=1)
    products = products_of(required(inputs[0]), required(inputs[1]), required(inputs[2]))
    data = to_nhwc(products.data, parameters.nchw)
    filters = products.weights[0]
    height, width = axes(parameters, data.shape[1:3], filters.shape[:2])
    sums = _sums(pad(data, height, width), filters, height, width)
    if not numpy.isfinite(filters).all():  # padding times infinity is no zero
        sums = _sums_inside(data, filters, height, width)
    result = store(activate((sums + products.bias) * products.scale, parameters.activation), outputs[0])
    return (from_nhwc(result, parameters.nchw),)


def _sums(padded: Array, filters: Array, height: Axis, width: Axis) -> Array:
    """Sum over filter positions of the data shifted there, repeated for each output channel, times the weights."""
    batches, _, _, channels = padded.shape
    multiplier = filters.shape[2] // channels
    sums = numpy.zeros((batches, height.output, width.output, filters.shape[2]), padded.dtype)
    terms = numpy.empty_like(sums)
    for y, x in numpy.ndindex(filters.shape[:2]):
        shifted = padded[:, positions(height, y), positions(width, x), :]
        repeated = shifted if multiplier == 1 else numpy.repeat(shifted, multiplier, axis=3)
        sums += numpy.multiply(repeated, filters[y, x], out=terms)
    return sums


def _sums_inside(data: Array, filters: Array, height: Axis, width: Axis) -> Array:
    """The same of what lies inside the data alone."""
    multiplier = filters.shape[2] // data.shape[3]
    return summed_inside(data, height, width, lambda under, at: under.repeat(multiplier, axis=3) * filters[at])
