"""CONV_2D."""

import numpy

from npu_conformance.reference.device.activation import activate
from npu_conformance.reference.device.products import products_of
from npu_conformance.reference.device.quantization import store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required
from npu_conformance.reference.device.windows import (
    axes,
    from_nhwc,
    pad,
    read_parameters,
    summed_inside,
    to_nhwc,
    windows,
)


def conv_2d(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[n, y, x, o] = activation(bias[o] + sum over the window of input * filter[o]), as one matrix product.

    The filter is [output channels, height, width, input channels] in both layouts.
    """
    parameters = read_parameters(inputs, first=3, extra=0)
    products = products_of(required(inputs[0]), required(inputs[1]), required(inputs[2]))
    data = to_nhwc(products.data, parameters.nchw)
    channels, filter_height, filter_width, _ = products.weights.shape
    height, width = axes(parameters, data.shape[1:3], (filter_height, filter_width))
    filters = products.weights.reshape(channels, -1)
    rows = windows(pad(data, height, width), height, width).reshape(-1, filters.shape[1])
    sums = (rows @ filters.T + products.bias) * products.scale
    if not numpy.isfinite(filters).all():  # padding times infinity is no zero
        inside = summed_inside(data, height, width, lambda under, place: under @ products.weights[:, *place].T)
        sums = inside.reshape(sums.shape) + products.bias
    result = store(activate(sums, parameters.activation), outputs[0])
    return (from_nhwc(result.reshape(data.shape[0], height.output, width.output, channels), parameters.nchw),)
