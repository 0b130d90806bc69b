"""The generator of SPACE_TO_DEPTH.

By hand: block 2 and 3 channels; the pixel in the second row and first column of a block has i = 1, j = 0, so that its
channels become the output's from (1*2 + 0)*3 = 6 on.
"""

from npu_conformance.corpus.generators._blocks import Blocks, square
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators.base import Vectors

BLOCKS = Blocks(
    "SPACE_TO_DEPTH",
    "1.0",
    {
        "block_2": square((2, 4, 4, 3), 2, (2, 2, 2, 12)),
        "block_3": square((1, 6, 3, 2), 3, (1, 2, 1, 18)),
        "one_channel": square((2, 2, 6, 1), 2, (2, 1, 3, 4)),
        "one_block": square((1, 2, 2, 3), 2, (1, 1, 1, 12)),
        "block_1": square((2, 3, 2, 3), 1, (2, 3, 2, 3)),
    },
)


def vectors() -> Vectors:
    """Every type and block size; both layouts; open sizes; the start of a detection network; rejections."""
    yield from BLOCKS.vectors()
    image = square((1, 8, 8, 3), 2, (1, 4, 4, 12))
    yield BLOCKS.vector("float32_focus", "float32", image, description="the first step of a detection network")
    yield from BLOCKS.late_squares(square((1, 4, 4, 2), 2, (1, 2, 2, 8)))
    yield from BLOCKS.rejected_squares((1, 2, 2, 2), (1, 1, 1, 8))
    for name, (height, width) in {"height_3": (3, 4), "width_5": (2, 5)}.items():
        yield BLOCKS.rejection(name, "C3", square((1, height, width, 2), 2, (1, height // 2, width // 2, 8)))
    yield from BLOCKS.rejected_outputs(square((1, 4, 6, 2), 2, (1, 2, 3, 8)), ("C5", "C6"))
    yield from long_axes("SPACE_TO_DEPTH")
