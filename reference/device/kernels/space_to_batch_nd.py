"""SPACE_TO_BATCH_ND."""

import numpy

from npu_conformance.reference.device.blocks import into_blocks, is_nchw
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integers, required
from npu_conformance.reference.device.windows import from_nhwc, to_nhwc


def space_to_batch_nd(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[(i*b1 + j)*N + n, h, w, c] = padded input[n, h*b0 + i, w*b1 + j, c]; padding holds real zero."""
    tensor, nchw = required(inputs[0]), is_nchw(inputs, 3)
    top, bottom, left, right = integers(inputs[2])
    paddings = [(0, 0), (top, bottom), (left, right), (0, 0)]
    padded = numpy.pad(to_nhwc(tensor.data, nchw), paddings, constant_values=tensor.zero_point)
    blocks = into_blocks(padded, *integers(inputs[1]))
    height, width, n, *image = blocks.shape
    return (from_nhwc(blocks.reshape(height * width * n, *image), nchw),)
