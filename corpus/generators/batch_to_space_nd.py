"""The generator of BATCH_TO_SPACE_ND.

By hand: block [2, 3] and 2 batches out of 12; the pixel in the second row and third column of a block has i = 1, j = 2,
so that batch 1 of the output takes it from batch (1*3 + 2)*2 + 1 = 11 of the input.
"""

from npu_conformance.corpus.generators._blocks import Blocks, Case, Shape
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._moves import late, result, source, unknown
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import constant, int32s
from npu_conformance.corpus.generators.types import INT32


def _case(before: Shape, block: tuple[int, ...], after: Shape) -> Case:
    return Case(before, after, {"block_shape": int32s(*block)})


BLOCKS = Blocks(
    "BATCH_TO_SPACE_ND",
    "1.1",
    {
        "block_2_3": _case((12, 2, 1, 2), (2, 3), (2, 4, 3, 2)),
        "block_2_2": _case((4, 2, 3, 1), (2, 2), (1, 4, 6, 1)),
        "block_1_3": _case((6, 2, 2, 2), (1, 3), (2, 2, 6, 2)),
        "block_3_1": _case((3, 1, 2, 4), (3, 1), (1, 3, 2, 4)),
        "block_1_1": _case((2, 3, 2, 3), (1, 1), (2, 3, 2, 3)),
    },
)


def vectors() -> Vectors:
    """Every type; square and other blocks; both layouts; open sizes; a dilated convolution's end; rejections."""
    yield from BLOCKS.vectors()
    image = _case((4, 4, 4, 3), (2, 2), (1, 8, 8, 3))
    yield BLOCKS.vector("float32_dilated", "float32", image, description="what follows a convolution of dilation 2")
    inputs = {"input": source("float32", (6, 2, 1, 2)), "block_shape": unknown(late(int32s(2, 3)), ())}
    outputs = {"output": result("float32", (1, 4, 3, 2))}
    yield positive(
        "float32_block_of_unknown_rank", BLOCKS.operation, inputs, outputs, since="1.2", hazards=["block-order"]
    )
    yield from BLOCKS.rejected_shapes({"block_shape": int32s(1, 1)})
    for name, block in {"one_element": (2,), "three_elements": (2, 2, 1)}.items():
        yield BLOCKS.rejection(f"block_{name}", "C2", _case((4, 2, 2, 1), block, (1, 4, 4, 1)))
    for name, block in {"height_0": (0, 2), "width_0": (2, 0), "negative": (-2, -2)}.items():
        yield BLOCKS.rejection(f"block_{name}", "C3", _case((4, 2, 2, 1), block, (1, 4, 4, 1)))
    for name, batches in {"6": 6, "2": 2}.items():
        yield BLOCKS.rejection(f"batches_{name}", "C4", _case((batches, 2, 2, 1), (2, 2), (batches // 4, 4, 4, 1)))
    square = {"input": source("float32", (4, 2, 2, 1)), "block_shape": constant(INT32, (1, 2), (2, 2))}
    output = {"output": result("float32", (1, 4, 4, 1))}
    yield rejection(BLOCKS.operation, "block_rank_2", RANK_CLAUSE, square, output, "1.1")
    yield from BLOCKS.rejected_outputs(_case((6, 2, 1, 2), (2, 3), (1, 4, 3, 2)), ("C6", "C7"))
    yield from long_axes("BATCH_TO_SPACE_ND")
