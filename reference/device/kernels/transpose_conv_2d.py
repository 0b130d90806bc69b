"""TRANSPOSE_CONV_2D."""

from collections.abc import Sequence

import numpy

from npu_conformance.reference.device.activation import activate
from npu_conformance.reference.device.products import products_of
from npu_conformance.reference.device.quantization import store
from npu_conformance.reference.device.tensors import Array, Inputs, OutputInfo, Outputs, integers, required
from npu_conformance.reference.device.windows import Parameters, from_nhwc, read_parameters, to_nhwc
from npu_conformance.specs.neuralnetworks.enums import OperandType, PaddingScheme


def transpose_conv_2d(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[n, y * stride + a - head, ..., o] = activation(bias[o] + sum over (y, a) of input[n, y] * filter[o, a]).

    The filter is [output channels, height, width, input channels] in both layouts.
    """
    shape = inputs[3] if required(inputs[3]).operand_type == OperandType.TENSOR_INT32 else None
    parameters = read_parameters(inputs, first=3 if shape is None else 4, extra=0)
    products = products_of(required(inputs[0]), required(inputs[1]), required(inputs[2]))
    data = to_nhwc(products.data, parameters.nchw)
    wanted = [] if shape is None else integers(shape)
    heads = [_head(parameters, axis, products.weights.shape[1 + axis], wanted) for axis in (0, 1)]
    sums = _sums(data, products.weights, heads, parameters, outputs[0])
    result = store(activate((sums + products.bias) * products.scale, parameters.activation), outputs[0])
    return (from_nhwc(result, parameters.nchw),)


def _head(parameters: Parameters, axis: int, filter_size: int, wanted: Sequence[int]) -> int:
    """What is cut off before the first row (axis 0) or column (1) of the output. wanted: its shape, for the schemes."""
    if parameters.pads is not None:
        return parameters.pads[axis][0]
    if parameters.scheme != PaddingScheme.SAME:
        return 0
    size, stride = wanted[axis + (2 if parameters.nchw else 1)], parameters.strides[axis]
    needed = (-(-size // stride) - 1) * stride + filter_size
    return max((needed - size) // 2, 0)


def _sums(data: Array, weights: Array, heads: Sequence[int], parameters: Parameters, output: OutputInfo) -> Array:
    """The sums without bias, NHWC: for each filter position one matrix product, added where it belongs."""
    channels, filter_height, filter_width, _ = weights.shape
    height, width = output.dimensions[2:] if parameters.nchw else output.dimensions[1:3]
    sums = numpy.zeros((data.shape[0], height, width, channels), data.dtype)
    for y, x in numpy.ndindex(filter_height, filter_width):
        rows, to_rows = _places(data.shape[1], parameters.strides[0], y - heads[0], height)
        columns, to_columns = _places(data.shape[2], parameters.strides[1], x - heads[1], width)
        products = data[:, rows][:, :, columns] @ weights[:, y, x].T
        sums[:, to_rows[:, None], to_columns] += products
    return sums


def _places(size: int, stride: int, offset: int, limit: int) -> tuple[Array, Array]:
    """Which elements of an axis of the input fall inside the output, and where."""
    elements = numpy.arange(size)
    places = elements * stride + offset
    inside = (places >= 0) & (places < limit)
    return elements[inside], places[inside]
