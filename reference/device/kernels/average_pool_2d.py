"""AVERAGE_POOL_2D."""

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


def average_pool_2d(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[n, y, x, c] = activation(mean of input[c] over the window inside the data: padding is not counted)."""
    parameters = read_parameters(inputs, first=1, extra=2)
    data = to_nhwc(real(required(inputs[0])), parameters.nchw)
    filter_width, filter_height = parameters.extra
    height, width = axes(parameters, data.shape[1:3], (filter_height, filter_width))
    sums = windows(pad(data, height, width), height, width).sum(axis=(3, 4))
    counts = counts_inside(height, width)
    return (from_nhwc(store(activate(sums / counts, parameters.activation), outputs[0]), parameters.nchw),)
