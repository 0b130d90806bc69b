"""BATCH_TO_SPACE_ND."""

from npu_conformance.reference.device.blocks import from_blocks, is_nchw
from npu_conformance.reference.device.tensors import Array, Inputs, Outputs, integers, required
from npu_conformance.reference.device.windows import from_nhwc, to_nhwc


def batch_to_space_nd(inputs: Inputs, outputs: Outputs) -> tuple[Array, ...]:
    """output[n, h*b0 + i, w*b1 + j, c] = input[(i*b1 + j)*N + n, h, w, c]."""
    (height, width), nchw = integers(inputs[1]), is_nchw(inputs, 2)
    data = to_nhwc(required(inputs[0]).data, nchw)
    blocks = data.reshape(height, width, len(data) // (height * width), *data.shape[1:])
    return (from_nhwc(from_blocks(blocks), nchw),)
