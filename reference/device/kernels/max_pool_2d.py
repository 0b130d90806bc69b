"""MAX_POOL_2D."""

import math

from npu_conformance.reference.device.activation import activate
from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required
from npu_conformance.reference.device.windows import axes, from_nhwc, pad, read_parameters, to_nhwc, windows


def max_pool_2d(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[n, y, x, c] = activation(the largest input[c] of the window inside the data)."""
    parameters = read_parameters(inputs, first=1, extra=2)
    data = to_nhwc(real(required(inputs[0])), parameters.nchw)
    filter_width, filter_height = parameters.extra
    height, width = axes(parameters, data.shape[1:3], (filter_height, filter_width))
    largest = windows(pad(data, height, width, -math.inf), height, width).max(axis=(3, 4))
    return (from_nhwc(store(activate(largest, parameters.activation), outputs[0]), parameters.nchw),)
