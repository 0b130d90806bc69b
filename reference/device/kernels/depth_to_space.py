"""DEPTH_TO_SPACE."""

from npu_conformance.reference.device.blocks import from_blocks, is_nchw
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required
from npu_conformance.reference.device.windows import from_nhwc, to_nhwc


def depth_to_space(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[n, h*b + i, w*b + j, c] = input[n, h, w, (i*b + j)*C + c]."""
    block, nchw = integer(inputs[1]), is_nchw(inputs, 2)
    data = to_nhwc(required(inputs[0]).data, nchw)
    n, h, w, depth = data.shape
    blocks = data.reshape(n, h, w, block, block, depth // block**2).transpose(3, 4, 0, 1, 2, 5)
    return (from_nhwc(from_blocks(blocks), nchw),)
