"""SPACE_TO_DEPTH."""

from npu_conformance.reference.device.blocks import into_blocks, is_nchw
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integer, required
from npu_conformance.reference.device.windows import from_nhwc, to_nhwc


def space_to_depth(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[n, h, w, (i*b + j)*C + c] = input[n, h*b + i, w*b + j, c]."""
    block, nchw = integer(inputs[1]), is_nchw(inputs, 2)
    blocks = into_blocks(to_nhwc(required(inputs[0]).data, nchw), block, block)
    _, _, n, h, w, c = blocks.shape
    return (from_nhwc(blocks.transpose(2, 3, 4, 0, 1, 5).reshape(n, h, w, c * block**2), nchw),)
