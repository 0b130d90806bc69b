"""Between stored elements and the real numbers they stand for. Kernels compute with the real numbers."""

import numpy

from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, element_type
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

_ALMOST_HALF = numpy.nextafter(0.5, 0.0)


def real(tensor: Tensor) -> Array:
    """Return what the elements stand for: float64, or int64 for TENSOR_INT32.

    Wide enough that one rounding in `store` gives what arithmetic in the operand's own type would give:
    +, -, *, / in float64 rounded once are the correctly rounded float32 and float16 results.
    """
    if OPERAND_TYPES[tensor.operand_type].is_quantized:
        return centred(tensor) * _scales(tensor)
    return tensor.data.astype("int64" if tensor.data.dtype.kind in "iu" else "float64")


def store(values: Array, output: OutputInfo) -> Array:
    """Return the elements that stand for real values: rounded once, half away from zero, and saturated if quantised."""
    dtype = element_type(output.operand_type)
    if not OPERAND_TYPES[output.operand_type].is_quantized:
        return values.astype(dtype, copy=False)
    limits = numpy.iinfo(dtype)
    rounded = round_half_away(values / output.scale) + output.zero_point
    saturated: Array = numpy.clip(rounded, limits.min, limits.max)
    return saturated.astype(dtype)


def requantize(tensor: Tensor, output: OutputInfo) -> Array:
    """Return the elements that stand for the same values under the output's scale and zero point."""
    if (tensor.scale, tensor.zero_point) == (output.scale, output.zero_point):
        return tensor.data
    return store(real(tensor), output)


def centred(tensor: Tensor) -> Array:
    """Return q - zero point as float64, in which sums of products of 8-bit values are exact."""
    return tensor.data.astype(numpy.float64) - tensor.zero_point


def round_half_away(values: Array) -> Array:
    """Round to integers, ties away from zero. Adding 0.5 itself would round 0.49999999999999994 up."""
    rounded: Array = numpy.trunc(values + numpy.copysign(_ALMOST_HALF, values))
    return rounded


def _scales(tensor: Tensor) -> Array | float:
    """The scale, or the scales of a per-channel tensor shaped to multiply its elements."""
    if tensor.channel_quant is None:
        return tensor.scale
    shape = [1] * tensor.data.ndim
    shape[tensor.channel_quant.channel_dim] = len(tensor.channel_quant.scales)
    return numpy.array(tensor.channel_quant.scales, dtype=numpy.float64).reshape(shape)
