"""L2_POOL_2D."""

import numpy

from npu_conformance.reference.device.activation import activate
from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, required
from npu_conformance.reference.device.windows import (
    axes,
    counts_inside,
    from_nhwc,
    pad,
    read_parameters,
    to_nhwc,
    windows,
)


def l2_pool_2d(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[n, y, x, c] = activation(root of the mean square of input[c] over the window inside the data)."""
    parameters = read_parameters(inputs, first=1, extra=2)
    data = to_nhwc(real(required(inputs[0])), parameters.nchw)
    filter_width, filter_height = parameters.extra
    height, width = axes(parameters, data.shape[1:-1], (filter_height, filter_width))
    squares = windows(pad(data * data, height, width), height, width).sum(axis=(3, 4))
    roots = numpy.sqrt(squares / counts_inside(height, width))
    return (from_nhwc(store(activate(roots, parameters.activation), outputs[0]), parameters.nchw),)
