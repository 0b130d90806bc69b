"""LOCAL_RESPONSE_NORMALIZATION."""

import numpy
from numpy.lib.stride_tricks import sliding_window_view

from npu_conformance.reference.device.quantization import real, store
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required


def local_response_normalization(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output = x * (bias + alpha * S)^-beta, S the sum of x^2 up to radius places before and after along axis.

    Places outside of the tensor do not count, and the sum is not divided by their number.
    """
    axis = integer(inputs[5]) if len(inputs) > 5 else -1
    values = numpy.moveaxis(real(required(inputs[0])), axis, -1)
    bias, alpha, beta = (float(required(scalar).data.item()) for scalar in inputs[2:5])
    radius = min(max(integer(inputs[1]), 0), values.shape[-1])
    beyond = [(0, 0)] * (values.ndim - 1) + [(radius, radius)]
    windows = sliding_window_view(numpy.pad(numpy.square(values), beyond), 2 * radius + 1, axis=-1)
    normalized = values * (bias + alpha * windows.sum(axis=-1)) ** -beta
    return (store(numpy.moveaxis(normalized, -1, axis), outputs[0]),)
