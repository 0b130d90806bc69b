"""Images cut into blocks of pixels: what moves between space and depth or batches. Data is NHWC inside."""

from npu_conformance.reference.device.tensors import Array, Inputs, integer


def is_nchw(inputs: Inputs, position: int) -> bool:
    """The layout flag at a position; false where it was left off the end."""
    return len(inputs) > position and bool(integer(inputs[position]))


def into_blocks(data: Array, block_height: int, block_width: int) -> Array:
    """Return images [n, h, w, c] as [row in the block, column in the block, n, block row, block column, c]."""
    n, h, w, c = data.shape
    cut = data.reshape(n, h // block_height, block_height, w // block_width, block_width, c)
    return cut.transpose(2, 4, 0, 1, 3, 5)


def from_blocks(blocks: Array) -> Array:
    """Return the images that `into_blocks` cut."""
    block_height, block_width, n, h, w, c = blocks.shape
    return blocks.transpose(2, 3, 0, 4, 1, 5).reshape(n, h * block_height, w * block_width, c)
