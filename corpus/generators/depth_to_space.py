"""The generator of DEPTH_TO_SPACE.

By hand: block 2 and 2 channels out of 8; the pixel in the second row and first column of a block has i = 1, j = 0, so
that its channels are the input's from (1*2 + 0)*2 = 4 on.
"""

from npu_conformance.corpus.generators._blocks import Blocks, Case, Shape
from npu_conformance.corpus.generators._moves import late
from npu_conformance.corpus.generators.base import Vectors
from npu_conformance.corpus.generators.operands import int32


def _case(before: Shape, block: int, after: Shape) -> Case:
    return Case(before, after, {"block_size": int32(block)})


BLOCKS = Blocks(
    "DEPTH_TO_SPACE",
    "1.0",
    {
        "block_2": _case((2, 2, 3, 8), 2, (2, 4, 6, 2)),
        "block_3": _case((1, 2, 1, 18), 3, (1, 6, 3, 2)),
        "one_channel_left": _case((2, 1, 3, 4), 2, (2, 2, 6, 1)),
        "one_pixel": _case((1, 1, 1, 12), 2, (1, 2, 2, 3)),
        "block_1": _case((2, 3, 2, 3), 1, (2, 3, 2, 3)),
    },
)


def vectors() -> Vectors:
    """Every type and block size; both layouts; open sizes; the end of an upscaling network; rejections."""
    yield from BLOCKS.vectors()
    image = _case((1, 4, 4, 12), 2, (1, 8, 8, 3))
    yield BLOCKS.vector("float32_upscaling", "float32", image, description="the last step of an upscaling network")
    late_block = Case((1, 2, 2, 8), (1, 4, 4, 2), {"block_size": late(int32(2))})
    yield BLOCKS.vector("float32_block_with_the_request", "float32", late_block)
    same = Case((1, 2, 3, 4), (1, 2, 3, 4), {"block_size": late(int32(1))})
    yield BLOCKS.vector("float32_block_1_with_the_request", "float32", same)
    yield from BLOCKS.rejected_shapes({"block_size": int32(1)})
    for name, size in {"0": 0, "minus_1": -1, "minus_2": -2}.items():
        yield BLOCKS.rejection(f"block_{name}", "C2", _case((1, 2, 2, 8), size, (1, 4, 4, 2)))
    for name, depth in {"6": 6, "2": 2}.items():
        yield BLOCKS.rejection(f"depth_{name}", "C3", _case((1, 2, 2, depth), 2, (1, 4, 4, depth // 4)))
    yield from BLOCKS.rejected_outputs(_case((1, 2, 3, 8), 2, (1, 4, 6, 2)), ("C5", "C6"))
