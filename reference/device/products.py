"""Sums of products of data and weights: what convolutions and fully connected layers share."""

from dataclasses import dataclass

import numpy

from npu_conformance.reference.device.quantization import centred
from npu_conformance.reference.device.tensors import Array, Tensor
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES


@dataclass(frozen=True)
class Products:
    """Data, weights and bias as numbers to multiply and add. The sum times `scale` is the real result.

    Floats: the values themselves as float32, scale 1. Quantised: integers held in float64, in which the sums are
    exact and BLAS is fast; scale is the product of both scales, one for each output channel where weights have them.
    """

    data: Array
    weights: Array
    bias: Array
    scale: Array | float


def products_of(data: Tensor, weights: Tensor, bias: Tensor) -> Products:
    """Return the factors of data and weights."""
    if not OPERAND_TYPES[data.operand_type].is_quantized:
        return Products(_float32(data), _float32(weights), _float32(bias), 1.0)
    scales = weights.channel_quant.scales if weights.channel_quant else weights.scale
    return Products(
        centred(data),
        centred(weights),
        bias.data.astype(numpy.float64),
        data.scale * numpy.array(scales, dtype=numpy.float64),
    )


def _float32(tensor: Tensor) -> Array:
    return tensor.data.astype(numpy.float32, copy=False)
