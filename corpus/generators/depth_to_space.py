"""The generator of DEPTH_TO_SPACE.

By hand: block 2 and 2 channels out of 8; the pixel in the second row and first column of a block has i = 1, j = 0, so
that its channels are the input's from (1*2 + 0)*2 = 4 on.
"""

from npu_conformance.corpus.generators._blocks import Blocks, square
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators.base import Vectors

BLOCKS = Blocks(
    "DEPTH_TO_SPACE",
    "1.0",
    {
        "block_2": square((2, 2, 3, 8), 2, (2, 4, 6, 2)),
        "block_3": square((1, 2, 1, 18), 3, (1, 6, 3, 2)),
        "one_channel_left": square((2, 1, 3, 4), 2, (2, 2, 6, 1)),
        "one_pixel": square((1, 1, 1, 12), 2, (1, 2, 2, 3)),
        "block_1": square((2, 3, 2, 3), 1, (2, 3, 2, 3)),
    },
)


def vectors() -> Vectors:
    """Every type and block size; both layouts; open sizes; the end of an upscaling network; rejections."""
    yield from BLOCKS.vectors()
    image = square((1, 4, 4, 12), 2, (1, 8, 8, 3))
    yield BLOCKS.vector("float32_upscaling", "float32", image, description="the last step of an upscaling network")
    yield from BLOCKS.late_squares(square((1, 2, 2, 8), 2, (1, 4, 4, 2)))
    yield from BLOCKS.rejected_squares((1, 2, 2, 8), (1, 4, 4, 2))
    for name, depth in {"6": 6, "2": 2}.items():
        yield BLOCKS.rejection(f"depth_{name}", "C3", square((1, 2, 2, depth), 2, (1, 4, 4, depth // 4)))
    yield from BLOCKS.rejected_outputs(square((1, 2, 3, 8), 2, (1, 4, 6, 2)), ("C5", "C6"))
    yield from long_axes("DEPTH_TO_SPACE")
