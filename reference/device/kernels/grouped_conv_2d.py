"""GROUPED_CONV_2D."""

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


def grouped_conv_2d(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[n, y, x, o] = activation(bias[o] + sum over the window of the input channels of o's group * filter[o]).

    The filter is [output channels, height, width, input channels / groups] in both layouts.
    """
    parameters = read_parameters(inputs, first=3, extra=1)
    products = products_of(required(inputs[0]), required(inputs[1]), required(inputs[2]))
    data = to_nhwc(products.data, parameters.nchw)
    (groups,) = parameters.extra
    channels, filter_height, filter_width, share = products.weights.shape
    height, width = axes(parameters, data.shape[1:-1], (filter_height, filter_width))
    under = windows(pad(data, height, width), height, width)
    split = under.reshape(*under.shape[:5], groups, share)
    filters = products.weights.reshape(groups, channels // groups, filter_height, filter_width, share)
    sums = numpy.einsum("nyxhwgc,gohwc->nyxgo", split, filters).reshape(*under.shape[:3], channels)
    if not numpy.isfinite(filters).all():  # padding times infinity is no zero
        sums = summed_inside(data, height, width, lambda under, place: _products(under, filters[:, :, *place]))
    result = store(activate((sums + products.bias) * products.scale, parameters.activation), outputs[0])
    return (from_nhwc(result, parameters.nchw),)


def _products(data: Array, filters: Array) -> Array:
    """The data of each group times the filters of one place: [groups, output channels, input channels] of a group."""
    groups, channels, share = filters.shape
    split = data.reshape(*data.shape[:3], groups, share)
    products: Array = numpy.einsum("nyxgc,goc->nyxgo", split, filters)
    return products.reshape(*data.shape[:3], groups * channels)
